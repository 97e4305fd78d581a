package queuetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

// crowd has n buyers click at once, and returns who was answered, with which ticket; an error has to be an outage.
func (b *Backend) crowd(t *testing.T, item model.ID, n int) map[model.Buyer]model.Ticket {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answered := map[model.Buyer]model.Ticket{}
	for k := range n {
		wg.Go(func() {
			buyer := model.Buyer(fmt.Sprint("crowd ", k))
			a, err := b.Queue.Join(t.Context(), item, queue.Click{Buyer: buyer, Quantity: 1})
			if err != nil {
				outage(t, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			answered[buyer] = a.Ticket
		})
	}
	wg.Wait()
	return answered
}

// kept holds the tickets that were answered against what stands in the queue, by number.
func (b *Backend) kept(t *testing.T, item model.ID, answered map[model.Buyer]model.Ticket) {
	t.Helper()
	batch := b.peek(t, item, queue.MaxPeek)
	stands := map[model.Buyer]model.Ticket{}
	for n, e := range batch.Entries {
		equal(t, "number", e.Seq, int64(n+1))
		stands[e.Buyer] = ticketOf(item, e)
	}
	equal(t, "buyers in line", len(stands), len(batch.Entries))
	for buyer, ticket := range answered {
		equal(t, "ticket", stands[buyer], ticket)
	}
}

func failBefore(t *testing.T, b *Backend) {
	b.needFaults(t)
	item := b.item(t)
	b.Faults.keepBy(func(func() error) error { return errFault })
	equal(t, "answered", len(b.crowd(t, item.ID, 50)), 0)
	b.notFound(t, item.ID, "crowd 0")
	equal(t, "progress", b.progress(t, item.ID), queue.Progress{Item: item.ID, Epoch: 1, Available: item.Available, Version: 1})
	b.Faults.keepBy(nil)
	answered := b.crowd(t, item.ID, 50)
	equal(t, "answered", len(answered), 50)
	b.kept(t, item.ID, answered)
}

func failAfter(t *testing.T, b *Backend) {
	b.needFaults(t)
	item := b.item(t)
	messages := b.Queue.Subscribe(t.Context())
	b.Faults.keepBy(func(commit func() error) error {
		if err := commit(); err != nil {
			return err
		}
		return errFault
	})
	answered := b.crowd(t, item.ID, 50)
	equal(t, "answered", len(answered), 50)
	b.kept(t, item.ID, answered)
	equal(t, "the seller hears of it", next(t, messages).Kind, queue.Woken)
	b.Faults.keepBy(nil)
	equal(t, "the next number", b.join(t, item.ID, "ann").Ticket.Seq, 51)
	b.restart(t, item)
	b.kept(t, item.ID, answered)
}

func doubt(t *testing.T, b *Backend) {
	b.needFaults(t)
	item := b.item(t)
	b.joinAll(t, item.ID, "early")
	b.Faults.loadBy(func() error { return errFault })
	b.Faults.keepBy(func(commit func() error) error { _ = commit(); return errFault })
	b.refused(t, item.ID, "ann", model.ErrUnavailable)
	b.Faults.keepBy(nil)
	b.refused(t, item.ID, "bob", model.ErrUnavailable)
	equal(t, "one whose ticket is sure", b.join(t, item.ID, "early").Ticket.Seq, 1)
	equal(t, "ann's number", b.look(t, model.Ticket{Item: item.ID, Epoch: 1, Seq: 2, Quantity: 1, Buyer: "ann"}).State, queue.Unknown)
	_, err := b.Queue.Peek(t.Context(), item.ID, 5)
	outage(t, err)

	// Nobody who may have a ticket is told that it is too late for one.
	item = changed(item, func(i *model.Item) { i.ClosedAt = start })
	b.mirror(t, item)
	b.refused(t, item.ID, "ann", model.ErrUnavailable)
	b.Faults.loadBy(nil)
	equal(t, "ann's ticket", b.join(t, item.ID, "ann").Ticket.Seq, 2)
	b.refused(t, item.ID, "bob", model.ErrEnded)
	b.mirror(t, changed(item, func(i *model.Item) { i.ClosedAt = 0 }))
	equal(t, "bob's ticket", b.join(t, item.ID, "bob").Ticket.Seq, 3)
}

// lateKeep keeps a group only after the queue has looked for it in vain: it is found when its number is given again.
func lateKeep(t *testing.T, b *Backend) {
	b.needFaults(t)
	item := b.item(t)
	late := make(chan func() error, 1)
	b.Faults.keepBy(func(commit func() error) error { late <- commit; return errFault })
	b.refused(t, item.ID, "ann", model.ErrUnavailable)
	b.Faults.keepBy(nil)
	if err := (<-late)(); err != nil {
		t.Fatal(err)
	}
	b.refused(t, item.ID, "bob", model.ErrUnavailable)
	equal(t, "bob's ticket", b.join(t, item.ID, "bob").Ticket.Seq, 2)
	equal(t, "ann's ticket", b.join(t, item.ID, "ann").Ticket.Seq, 1)
}

func killInFlight(t *testing.T, b *Backend) {
	b.needFaults(t)
	item := b.item(t)
	var left atomic.Int32
	left.Store(4)
	b.Faults.keepBy(func(commit func() error) error {
		switch n := left.Add(-1); {
		case n > 0:
			return commit()
		case n == 0: // kept, and killed before anybody is answered
			_ = commit()
		}
		return errFault
	})
	b.Faults.loadBy(func() error { return errFault })
	answered := b.crowd(t, item.ID, 300)
	b.Faults.keepBy(nil)
	b.Faults.loadBy(nil)
	b.restart(t, item)
	b.kept(t, item.ID, answered)
	equal(t, "all have a ticket in the end", len(b.crowd(t, item.ID, 300)), 300)
	b.kept(t, item.ID, answered)
}

func (b *Backend) needFaults(t *testing.T) {
	t.Helper()
	if b.Faults == nil {
		t.Skip("the backend has no journal")
	}
}

func outage(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("%v, want an outage", err)
	}
}
