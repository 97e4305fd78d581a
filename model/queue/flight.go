package queue

import (
	"context"
	"errors"
	"sync"
	"time"

	"seckill/model"
)

// Bounds of what a flight waits for.
const (
	insertTime = 2 * time.Second  // of a group's insert
	rereadTime = 10 * time.Second // of a look into the whole journal
)

// localItem is one item of Local: its state, and the flights that add to it. The number, the insert, the commit and the
// append of a group happen under one lock, in that order.
type localItem struct {
	local  *Local
	id     model.ID
	clicks *gather

	flight sync.Mutex // held over the journal's I/O; taken before mu
	// What a flight works on, kept for the next one.
	joining []*waiter
	fresh   []model.Entry
	lines   [][]byte
	text    []byte

	mu sync.Mutex // of everything below; never held over I/O
	*state
	// doubt: an insert had no clear answer. Nothing is numbered until the journal has been read again.
	doubt bool
	// inFlight has the buyers of the group whose insert is under way.
	inFlight map[model.Buyer]struct{}
}

func newLocalItem(l *Local, s *state) *localItem {
	i := &localItem{local: l, id: s.item, state: s, inFlight: map[model.Buyer]struct{}{}}
	i.clicks = newGather(i.fly)
	return i
}

// quick answers a click that needs no journal: a buyer with a mark, or one whom the gate refuses. A buyer who may
// have a ticket that is not marked yet is never refused here.
func (i *localItem) quick(buyer model.Buyer) (a Answer, done bool, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.local.clock.Now()
	if a, done = i.answer(buyer, now); done {
		return a, true, nil
	}
	if err = i.refuses(now, 0); err == nil || i.doubt {
		return Answer{}, false, nil
	}
	if _, joining := i.inFlight[buyer]; joining {
		return Answer{}, false, nil
	}
	return Answer{}, true, err
}

// refuses is the gate, for a click without a mark behind so many that have passed in its group.
func (i *localItem) refuses(now model.Instant, passed int) error {
	if err := i.gate.Refuses(now); err != nil {
		return err
	}
	if i.entries.len()+passed >= i.local.limit {
		return model.ErrQueueFull
	}
	return nil
}

// fly takes a group through the gate.
func (i *localItem) fly(group []*waiter) {
	i.flight.Lock()
	defer i.flight.Unlock()
	if err := i.recheck(context.Background()); err != nil {
		for _, w := range group {
			w.tell(Answer{}, err)
		}
		return
	}
	now := i.number(group)
	if len(i.joining) > 0 {
		i.land(now, i.keep())
	}
}

// number runs the gate for each click, in order. It answers those that are marked or refused; those that pass, and
// further clicks of their buyers, are joining.
func (i *localItem) number(group []*waiter) model.Instant {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.local.clock.Now()
	i.joining, i.fresh = i.joining[:0], i.fresh[:0]
	for _, w := range group {
		if a, marked := i.answer(w.click.Buyer, now); marked {
			w.tell(a, nil)
			continue
		}
		if _, again := i.inFlight[w.click.Buyer]; !again {
			if err := i.refuses(now, len(i.fresh)); err != nil {
				w.tell(Answer{}, err)
				continue
			}
			i.inFlight[w.click.Buyer] = struct{}{}
			i.fresh = append(i.fresh, model.Entry{Epoch: i.epoch, Seq: i.seq + 1 + int64(len(i.fresh)), At: now,
				Quantity: w.click.Quantity, Buyer: w.click.Buyer})
		}
		i.joining = append(i.joining, w)
	}
	return now
}

// keep inserts the fresh entries into the journal. Without a clear answer the journal is read again, and the list then
// has what it has; the error is why a click that has no mark after that has no answer.
func (i *localItem) keep() error {
	i.lines, i.text = i.lines[:0], i.text[:0]
	for _, e := range i.fresh {
		start := len(i.text)
		i.text = appendEntry(i.text, e)
		i.lines = append(i.lines, i.text[start:len(i.text):len(i.text)])
	}
	ctx, cancel := context.WithTimeout(context.Background(), insertTime)
	defer cancel()
	err := i.local.journal.AppendJournal(ctx, i.id, i.fresh[0].Seq, i.lines)
	if err == nil {
		return nil
	}
	i.mu.Lock()
	i.doubt = true
	i.mu.Unlock()
	return errors.Join(unavailable(i.id, "keep clicks", err), i.recheck(context.Background()))
}

// land appends what is kept and answers the clicks that were joining, each from its buyer's mark. It does both under
// one lock: a ticket can not be decided before it is answered. After a failure the marks are those that were found.
func (i *localItem) land(now model.Instant, failed error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if failed == nil {
		i.extend(func() {
			for _, e := range i.fresh {
				i.add(e)
			}
		})
	}
	for _, w := range i.joining {
		if a, marked := i.answer(w.click.Buyer, now); marked {
			w.tell(a, nil)
		} else {
			w.tell(Answer{}, failed)
		}
	}
	clear(i.inFlight)
	clear(i.joining)
	clear(i.fresh)
}

// recheck ends a doubt by reading the journal: what it has beyond the list is accepted. The flight's lock is held.
func (i *localItem) recheck(ctx context.Context) error {
	if !i.doubtful() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rereadTime)
	defer cancel()
	groups, err := i.local.journal.LoadJournal(ctx, i.id)
	if err != nil {
		return unavailable(i.id, "read the journal again", err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.extend(func() { i.absorb(groups) })
	i.doubt = false
	return nil
}

func (i *localItem) doubtful() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.doubt
}

// extend runs grow, which adds to the list, and wakes the sellers if the list was empty. The lock is held.
func (i *localItem) extend(grow func()) {
	empty := i.entries.len() == 0
	grow()
	if empty && i.entries.len() > 0 {
		i.publish(Message{Kind: Woken})
	}
}

// publish fills in the item and its progress. The lock is held, so that an item's messages come in order.
func (i *localItem) publish(m Message) {
	m.Item, m.Progress = i.id, i.progress()
	i.local.fanout.publish(m)
}
