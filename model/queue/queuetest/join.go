package queuetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func numbersRise(t *testing.T, b *Backend) {
	item := b.item(t)
	const callers, clicks = 8, 60
	var wg sync.WaitGroup
	var mu sync.Mutex
	given := map[int64]model.Buyer{}
	for c := range callers {
		wg.Go(func() {
			last := int64(0)
			for n := range clicks {
				buyer := model.Buyer(fmt.Sprintf("buyer %d|%d", c, n))
				a, err := b.Queue.Join(t.Context(), item.ID, queue.Click{Buyer: buyer, Quantity: 1 + n%3})
				if err != nil || a.Ticket.Seq <= last || a.Ticket.Buyer != buyer || a.Ticket.Epoch != 1 || a.Ticket.Item != item.ID {
					t.Errorf("%s after %d: %+v, %v", buyer, last, a, err)
					return
				}
				last = a.Ticket.Seq
				mu.Lock()
				given[last] = buyer
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	equal(t, "numbers given", len(given), callers*clicks)
	batch := b.peek(t, item.ID, queue.MaxPeek)
	equal(t, "entries", len(batch.Entries), callers*clicks)
	equal(t, "highest", batch.Seq, callers*clicks)
	for n, e := range batch.Entries {
		want := model.Entry{Epoch: 1, Seq: int64(n + 1), At: start, Buyer: given[int64(n+1)], Quantity: e.Quantity}
		equal(t, "entry", e, want)
	}
}

func oneTicket(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "before")
	const calls = 200
	tickets := make([]model.Ticket, calls)
	var wg sync.WaitGroup
	for n := range calls {
		wg.Go(func() {
			a, err := b.Queue.Join(t.Context(), item.ID, queue.Click{Buyer: "ann", Quantity: 2})
			if err != nil || a.Ahead != 1 || a.Marked {
				t.Errorf("%+v, %v", a, err)
			}
			tickets[n] = a.Ticket
		})
	}
	wg.Wait()
	for _, got := range tickets {
		equal(t, "ticket", got, model.Ticket{Item: item.ID, Epoch: 1, Seq: 2, Quantity: 2, Buyer: "ann"})
	}
	equal(t, "entries", len(b.peek(t, item.ID, 10).Entries), 2)
	for _, other := range []model.Buyer{"ANN", "ann ", "ànn", "a\x00nn"} {
		if got := b.join(t, item.ID, other).Ticket; got.Buyer != other || got.Seq == 2 {
			t.Errorf("%q is another buyer, got %+v", other, got)
		}
	}
}

func firstQuantity(t *testing.T, b *Backend) {
	item := b.item(t)
	first, err := b.Queue.Join(t.Context(), item.ID, queue.Click{Buyer: "ann", Quantity: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*model.Item){
		func(*model.Item) {},
		func(i *model.Item) { i.Available = 0 },
		func(i *model.Item) { i.Paused = true },
		func(i *model.Item) { i.ClosedAt = start },
	} {
		item = changed(item, change)
		b.mirror(t, item)
		again := b.join(t, item.ID, "ann")
		equal(t, "ticket", again.Ticket, first.Ticket)
		equal(t, "marked", again.Marked, false)
	}
}

func gateRules(t *testing.T, b *Backend) {
	item := b.item(t, func(i *model.Item) { i.StartsAt, i.EndsAt = start+1000, start+2000 })
	now := start
	at := func(ms model.Instant) { now = start + ms; b.SetNow(now) }
	passes := func(buyer model.Buyer) {
		t.Helper()
		equal(t, "gate's clock", b.join(t, item.ID, buyer).At, now)
	}
	b.refused(t, item.ID, "ann", model.ErrNotStarted)
	at(999)
	b.refused(t, item.ID, "ann", model.ErrNotStarted)
	at(1000)
	passes("ann")
	at(1500)
	for _, c := range []struct {
		change func(*model.Item)
		want   error
	}{
		{func(i *model.Item) { i.Paused = true }, model.ErrPaused},
		{func(i *model.Item) { i.Paused, i.Available = false, 0 }, model.ErrSoldOut},
		{func(i *model.Item) { i.Available, i.Paused, i.ClosedAt = 1, true, now }, model.ErrEnded},
	} {
		item = changed(item, c.change)
		b.mirror(t, item)
		b.refused(t, item.ID, "bob", c.want)
	}
	item = changed(item, func(i *model.Item) { i.Paused, i.ClosedAt = false, 0 })
	b.mirror(t, item)
	at(1999)
	passes("bob")
	at(2000)
	b.refused(t, item.ID, "cid", model.ErrEnded)
	passes("ann")
	got, err := b.Queue.Now(t.Context())
	if err != nil || got != now {
		t.Errorf("the gate's clock is %v, %v; want %v", got, err, now)
	}
}

func noMark(t *testing.T, b *Backend) {
	item := b.item(t)
	for _, c := range []struct {
		change func(*model.Item)
		want   error
	}{
		{func(i *model.Item) { i.StartsAt = start + 1 }, model.ErrNotStarted},
		{func(i *model.Item) { i.StartsAt, i.EndsAt = 1, 2 }, model.ErrEnded},
		{func(i *model.Item) { i.EndsAt, i.ClosedAt = 0, start }, model.ErrEnded},
		{func(i *model.Item) { i.ClosedAt, i.Paused = 0, true }, model.ErrPaused},
		{func(i *model.Item) { i.Paused, i.Available = false, 0 }, model.ErrSoldOut},
		{func(i *model.Item) { i.Available = -1 }, model.ErrSoldOut},
	} {
		item = changed(item, c.change)
		b.mirror(t, item)
		b.refused(t, item.ID, "ann", c.want)
		b.notFound(t, item.ID, "ann")
	}
	b.mirror(t, changed(item, func(i *model.Item) { i.Available = 1 }))
	equal(t, "first number", b.join(t, item.ID, "ann").Ticket.Seq, 1)
}

func queueFull(t *testing.T, b *Backend) {
	item := b.item(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	outcomes := map[bool]int{}
	for n := range 40 {
		wg.Go(func() {
			_, err := b.Queue.Join(t.Context(), item.ID, queue.Click{Buyer: model.Buyer(fmt.Sprint(n)), Quantity: 1})
			if err != nil && !errors.Is(err, model.ErrQueueFull) {
				t.Error(err)
			}
			mu.Lock()
			outcomes[err == nil]++
			mu.Unlock()
		})
	}
	wg.Wait()
	equal(t, "accepted", outcomes[true], 3)
	equal(t, "queued", b.progress(t, item.ID).Queued, 3)
	b.refused(t, item.ID, "late", model.ErrQueueFull)
	b.notFound(t, item.ID, "late")
	inside := b.peek(t, item.ID, 1)
	equal(t, "one inside asks again", b.join(t, item.ID, inside.Entries[0].Buyer).Ticket.Seq, 1)
	b.settle(t, inside, item, model.SoldOut)
	equal(t, "a place was freed", b.join(t, item.ID, "late").Ticket.Seq, 4)
}

func ahead(t *testing.T, b *Backend) {
	item := b.item(t)
	var tickets []model.Ticket
	for n := range int64(5) {
		a := b.join(t, item.ID, model.Buyer(fmt.Sprint(n)))
		equal(t, "ahead at joining", a.Ahead, n)
		tickets = append(tickets, a.Ticket)
	}
	b.settle(t, b.peek(t, item.ID, 2), item, model.SoldOut, model.SoldOut)
	for n, want := range []int64{0, 0, 0, 1, 2} {
		equal(t, "ahead after two", b.look(t, tickets[n]).Ahead, want)
	}
	equal(t, "ahead when asked again", b.join(t, item.ID, "4").Ahead, 2)
	equal(t, "ahead when found", b.find(t, item.ID, "3").Ahead, 1)
}

func hangUp(t *testing.T, b *Backend) {
	item := b.item(t)
	const buyers = 100
	var wg sync.WaitGroup
	for n := range buyers {
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			defer cancel()
			buyer := model.Buyer(fmt.Sprint(n))
			_, err := b.Queue.Join(ctx, item.ID, queue.Click{Buyer: buyer, Quantity: 1})
			if err != nil && (n%2 == 0 || !errors.Is(err, context.Canceled)) {
				t.Errorf("%s: %v", buyer, err)
			}
		})
		if n%2 == 1 {
			wg.Go(cancel)
		}
	}
	wg.Wait()
	for n := range buyers {
		b.join(t, item.ID, model.Buyer(fmt.Sprint(n)))
	}
	batch := b.peek(t, item.ID, queue.MaxPeek)
	equal(t, "entries", len(batch.Entries), buyers)
	seen := map[model.Buyer]bool{}
	for _, e := range batch.Entries {
		seen[e.Buyer] = true
	}
	equal(t, "buyers", len(seen), buyers)
}

func missing(t *testing.T, b *Backend) {
	known := b.item(t)
	item := b.create(t)
	ctx, q := t.Context(), b.Queue
	ticket := model.Ticket{Item: item.ID, Epoch: 1, Seq: 1, Quantity: 1, Buyer: "ann"}
	b.refused(t, item.ID, "ann", queue.ErrMissing)
	_, found := q.Find(ctx, item.ID, "ann")
	_, looked := q.Look(ctx, ticket)
	_, peeked := q.Peek(ctx, item.ID, 1)
	for what, err := range map[string]error{"unmark": q.Unmark(ctx, ticket), "find": found, "look": looked, "peek": peeked,
		"settle": q.Settle(ctx, queue.Settlement{Batch: queue.Batch{Item: item.ID, Epoch: 1}, Item: item})} {
		if !errors.Is(err, queue.ErrMissing) {
			t.Errorf("%s: %v", what, err)
		}
	}
	known = changed(known, func(i *model.Item) { i.Paused = true })
	if err := q.Mirror(ctx, item, known); !errors.Is(err, queue.ErrMissing) {
		t.Errorf("mirror: %v", err)
	}
	b.refused(t, known.ID, "ann", model.ErrPaused)
	if err := q.Remove(ctx, item.ID); err != nil {
		t.Errorf("remove: %v", err)
	}
}
