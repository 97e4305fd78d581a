package queuetest

import (
	"context"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func woken(t *testing.T, b *Backend) {
	item := b.item(t)
	messages := b.Queue.Subscribe(t.Context())
	b.joinAll(t, item.ID, "ann", "bob", "ann")
	b.settle(t, b.peek(t, item.ID, 1), item, model.SoldOut)
	b.joinAll(t, item.ID, "cid")
	b.settle(t, b.peek(t, item.ID, 5), item, model.SoldOut, model.SoldOut)
	b.joinAll(t, item.ID, "dan")
	for _, want := range []queue.Kind{queue.Woken, queue.Settled, queue.Settled, queue.Woken} {
		m := next(t, messages)
		equal(t, "kind", m.Kind, want)
		equal(t, "item", m.Item, item.ID)
	}
}

func settledIsTold(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann", "bob", "cid")
	one, two := b.Queue.Subscribe(t.Context()), b.Queue.Subscribe(t.Context())
	row := changed(item, func(i *model.Item) { i.Available-- })
	batch := b.peek(t, item.ID, 2)
	b.settle(t, batch, row, model.Won, model.SoldOut)
	for _, messages := range []<-chan queue.Message{one, two} {
		m := next(t, messages)
		equal(t, "kind", m.Kind, queue.Settled)
		equal(t, "progress", m.Progress, queue.Progress{Item: item.ID, Epoch: 1, Served: 2, Seq: 3, Queued: 1,
			Available: row.Available, Version: row.Version})
		if len(m.Told) != 2 {
			t.Fatalf("told %+v", m.Told)
		}
		equal(t, "ann", m.Told[0], queue.Told{Ticket: ticketOf(item.ID, batch.Entries[0]), Verdict: model.Won})
		equal(t, "bob", m.Told[1], queue.Told{Ticket: ticketOf(item.ID, batch.Entries[1]), Verdict: model.SoldOut})
	}
}

func changedIsTold(t *testing.T, b *Backend) {
	b.SetNow(start)
	item := b.create(t)
	messages := b.Queue.Subscribe(t.Context())
	install := func(row model.Item) {
		t.Helper()
		if err := b.Queue.Install(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	heard := func(what string, want ...queue.Kind) {
		t.Helper()
		for _, kind := range want {
			m := next(t, messages)
			equal(t, what, m.Kind, kind)
			equal(t, what, m.Item, item.ID)
			equal(t, what, m.Progress.Version, item.Version)
		}
	}
	install(item)
	heard("installed", queue.Changed)
	install(item) // nothing new
	b.mirror(t, item)
	item = changed(item, func(i *model.Item) { i.Title = "Tee" })
	b.mirror(t, item)
	heard("edited", queue.Changed)
	item = changed(item, func(i *model.Item) { i.Paused = true })
	install(item)
	heard("paused by install", queue.Changed)
	item = changed(item, func(i *model.Item) { i.Paused = false })
	b.mirror(t, item)
	heard("resumed", queue.Changed)

	b.joinAll(t, item.ID, "ann", "bob")
	heard("joined", queue.Woken)
	item = changed(item, func(i *model.Item) { i.Available-- })
	b.settle(t, b.peek(t, item.ID, 1), item, model.Won)
	heard("sold", queue.Settled)
	item = changed(item, func(i *model.Item) { i.Version++; i.Available--; i.ClosedAt = start })
	batch := b.peek(t, item.ID, 1)
	b.settle(t, batch, item, model.Won)
	heard("sold, and closed meanwhile", queue.Settled, queue.Changed)
	item = changed(item, func(i *model.Item) { i.Available++ })
	b.settle(t, batch, item, model.Won)
	heard("only the mirror", queue.Changed)
}

func slowSubscriber(t *testing.T, b *Backend) {
	item := b.item(t)
	slow := b.Queue.Subscribe(t.Context())
	const changes = 5000
	for range changes {
		item = changed(item, func(*model.Item) {})
		b.mirror(t, item)
	}
	seen, version := 0, int64(1)
	for {
		m := next(t, slow)
		if m.Kind == queue.Missed {
			equal(t, "item of missed", m.Item, 0)
			break
		}
		seen++
		version++
		equal(t, "version heard", m.Progress.Version, version)
	}
	if seen == 0 || seen >= changes {
		t.Errorf("%d heard before Missed", seen)
	}
	item = changed(item, func(*model.Item) {})
	b.mirror(t, item)
	m := next(t, slow)
	for m.Kind == queue.Missed || m.Progress.Version < item.Version {
		m = next(t, slow)
	}
	equal(t, "news after what was missed", m.Progress.Version, item.Version)
}

func subscriptionEnds(t *testing.T, b *Backend) {
	item := b.item(t)
	ctx, cancel := context.WithCancel(t.Context())
	ending, staying := b.Queue.Subscribe(ctx), b.Queue.Subscribe(t.Context())
	cancel()
	if m, open := receive(t, ending); open {
		t.Errorf("after its end: %+v", m)
	}
	b.join(t, item.ID, "ann")
	equal(t, "the other one", next(t, staying).Kind, queue.Woken)
}
