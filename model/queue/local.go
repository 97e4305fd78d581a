package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"seckill/model"
)

// LocalOptions of NewLocal. The zero value of each field is a sensible default.
type LocalOptions struct {
	Limit int // undecided tickets an item; 2,000,000
}

// Local is the queue of one process: lists in memory, each group of clicks kept in a journal before it is answered. A
// process that is killed loses nothing that it has answered. No two processes may share a journal.
//
// It remembers the verdicts of the last four million numbers of each item since it was made; older ones are Gone.
type Local struct {
	journal Journal
	clock   *model.Clock
	limit   int
	fanout  fanout

	installing sync.Mutex // held over the journal's I/O; taken before mu

	mu     sync.RWMutex
	items  map[model.ID]*localItem
	closed bool
}

var _ Queue = (*Local)(nil)

// NewLocal makes a queue that knows no item yet. The clock is the gate's. It starts no goroutine; one runs for each item
// while clicks wait.
func NewLocal(journal Journal, clock *model.Clock, opt LocalOptions) *Local {
	if opt.Limit <= 0 {
		opt.Limit = DefaultLimit
	}
	return &Local{journal: journal, clock: clock, limit: opt.Limit, items: map[model.ID]*localItem{}}
}

// Now implements Queue.
func (l *Local) Now(context.Context) (model.Instant, error) {
	if l.over() {
		return 0, model.ErrUnavailable
	}
	return l.clock.Now(), nil
}

// Install implements Queue. A row of an older epoch than the queue's is ErrEpoch.
func (l *Local) Install(ctx context.Context, item model.Item) error {
	l.installing.Lock()
	defer l.installing.Unlock()
	known, err := l.item(item.ID)
	switch {
	case errors.Is(err, ErrMissing):
	case err != nil:
		return err
	case known.epoch == item.Epoch:
		return l.Mirror(ctx, item)
	case known.epoch > item.Epoch:
		return fmt.Errorf("install item %s of epoch %d: %w", item.ID, item.Epoch, ErrEpoch)
	default: // nothing may be numbered while the journal is read for the new epoch
		known.clicks.close(model.ErrUnavailable)
	}
	s, err := l.load(ctx, item)
	if err != nil {
		return unavailable(item.ID, "load", err)
	}
	return l.put(newLocalItem(l, s))
}

// load is the item's queue as SQL has it: the journal's undecided entries, and the marks of those who hold an order.
func (l *Local) load(ctx context.Context, item model.Item) (*state, error) {
	s := newState(item)
	err := l.journal.LoadDecisions(ctx, item.ID, func(d model.Decision) error {
		for _, t := range d.Tickets {
			s.newest.set(t.Buyer, mark{epoch: d.Epoch, seq: t.Seq, quantity: int32(t.Quantity)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	holders, err := l.journal.LoadHolders(ctx, item.ID)
	if err != nil {
		return nil, err
	}
	for _, o := range holders {
		s.marks[o.Buyer] = mark{epoch: o.Epoch, seq: o.Seq, quantity: int32(o.Quantity)}
	}
	groups, err := l.journal.LoadJournal(ctx, item.ID)
	if err != nil {
		return nil, err
	}
	s.absorb(groups)
	return s, nil
}

// put makes the item known.
func (l *Local) put(i *localItem) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return model.ErrUnavailable
	}
	l.items[i.id] = i
	i.mu.Lock()
	defer i.mu.Unlock()
	i.publish(Message{Kind: Changed})
	return nil
}

// Mirror implements Queue.
func (l *Local) Mirror(_ context.Context, items ...model.Item) error {
	var failed error
	for _, item := range items {
		i, err := l.item(item.ID)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		i.mu.Lock()
		if i.mirror(item) {
			i.publish(Message{Kind: Changed})
		}
		i.mu.Unlock()
	}
	return failed
}

// Join implements Queue.
func (l *Local) Join(ctx context.Context, item model.ID, click Click) (Answer, error) {
	i, err := l.item(item)
	if err != nil {
		return Answer{}, err
	}
	if a, done, err := i.quick(click.Buyer); done {
		return a, err
	}
	return i.clicks.join(ctx, click)
}

// Unmark implements Queue.
func (l *Local) Unmark(_ context.Context, t model.Ticket) error {
	i, err := l.item(t.Item)
	if err != nil {
		return err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.unmark(t)
	return nil
}

// Find implements Queue.
func (l *Local) Find(_ context.Context, item model.ID, buyer model.Buyer) (Place, error) {
	i, err := l.item(item)
	if err != nil {
		return Place{}, err
	}
	hash := buyer.Hash()
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.find(buyer, hash)
}

// Look implements Queue.
func (l *Local) Look(_ context.Context, t model.Ticket) (Place, error) {
	i, err := l.item(t.Item)
	if err != nil {
		return Place{}, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.look(t), nil
}

// Peek implements Queue. While an insert of the item is in doubt it first reads the journal again, and is
// model.ErrUnavailable if that fails.
func (l *Local) Peek(ctx context.Context, item model.ID, most int) (Batch, error) {
	i, err := l.item(item)
	if err != nil {
		return Batch{}, err
	}
	if i.doubtful() && i.flight.TryLock() { // else a flight is about to read it
		err = i.recheck(ctx)
		i.flight.Unlock()
		if err != nil {
			return Batch{}, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.peek(most), nil
}

// Settle implements Queue.
func (l *Local) Settle(_ context.Context, s Settlement) error {
	i, err := l.item(s.Batch.Item)
	if err != nil {
		return err
	}
	if len(s.Verdicts) != len(s.Batch.Entries) {
		return fmt.Errorf("settle item %s: %d verdicts for %d entries", i.id, len(s.Verdicts), len(s.Batch.Entries))
	}
	hashes, told := tell(s)
	i.mu.Lock()
	defer i.mu.Unlock()
	if s.Batch.Epoch != i.epoch {
		return fmt.Errorf("settle item %s: %w", i.id, ErrEpoch)
	}
	before, head := i.gate, i.atHead(s.Batch)
	if head {
		i.settle(s.Batch, s.Verdicts, hashes)
	}
	wrote := i.mirror(s.Item)
	if head {
		i.publish(Message{Kind: Settled, Told: told})
	}
	if wrote && !(head && onlySold(before, i.gate, s)) {
		i.publish(Message{Kind: Changed})
	}
	return nil
}

// tell is the hash of each entry's buyer, and the verdicts of those who are known.
func tell(s Settlement) ([]model.BuyerHash, []Told) {
	hashes := make([]model.BuyerHash, len(s.Verdicts))
	told := make([]Told, 0, len(s.Verdicts))
	for n, e := range s.Batch.Entries {
		if e.Err != nil {
			continue
		}
		hashes[n] = e.Buyer.Hash()
		t := model.Ticket{Item: s.Batch.Item, Epoch: e.Epoch, Seq: e.Seq, Quantity: e.Quantity, Buyer: e.Buyer}
		told = append(told, Told{Ticket: t, Verdict: s.Verdicts[n]})
	}
	return hashes, told
}

// onlySold reports whether the gate shows nothing new but the units that the settlement sold; subscribers read that from
// its progress.
func onlySold(before, after model.Gate, s Settlement) bool {
	var sold int64
	for n, v := range s.Verdicts {
		if v == model.Won {
			sold += int64(s.Batch.Entries[n].Quantity)
		}
	}
	before.Version++
	before.Available -= sold
	return sold > 0 && before == after
}

// Progress implements Queue.
func (l *Local) Progress(_ context.Context, items ...model.ID) ([]Progress, error) {
	progress := make([]Progress, len(items))
	for n, id := range items {
		progress[n].Item = id
		i, err := l.item(id)
		if errors.Is(err, ErrMissing) {
			continue
		}
		if err != nil {
			return nil, err
		}
		i.mu.Lock()
		progress[n] = i.progress()
		i.mu.Unlock()
	}
	return progress, nil
}

// Reconcile implements Queue: it does nothing.
func (l *Local) Reconcile(context.Context, model.ID) error { return nil }

// Beat implements Queue: the queue's own process is the only one.
func (l *Local) Beat(_ context.Context, worker string) ([]string, error) {
	return []string{worker}, nil
}

// Leave implements Queue: nobody else takes over.
func (l *Local) Leave(context.Context, string) error { return nil }

// Subscribe implements Queue.
func (l *Local) Subscribe(ctx context.Context) <-chan Message { return l.fanout.subscribe(ctx) }

// Remove implements Queue. Clicks that wait are answered ErrMissing.
func (l *Local) Remove(_ context.Context, item model.ID) error {
	l.mu.Lock()
	i, ok := l.items[item]
	delete(l.items, item)
	l.mu.Unlock()
	if ok {
		i.clicks.close(ErrMissing)
	}
	return nil
}

// Close implements Queue. Every call after it is answered model.ErrUnavailable; subscriptions end with their contexts.
func (l *Local) Close() error {
	l.mu.Lock()
	l.closed = true
	items := slices.Collect(maps.Values(l.items))
	l.mu.Unlock()
	for _, i := range items {
		i.clicks.close(model.ErrUnavailable)
	}
	return nil
}

func (l *Local) over() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.closed
}

// item is ErrMissing for one that is not installed, and model.ErrUnavailable for all after Close.
func (l *Local) item(id model.ID) (*localItem, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return nil, model.ErrUnavailable
	}
	i, ok := l.items[id]
	if !ok {
		return nil, ErrMissing
	}
	return i, nil
}
