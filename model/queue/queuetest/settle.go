package queuetest

import (
	"errors"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func settleFrees(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "won", "sold", "dup", "ended", "failed", "waits")
	batch := b.peek(t, item.ID, 5)
	row := changed(item, func(i *model.Item) { i.Available-- })
	b.settle(t, batch, row, model.Won, model.SoldOut, model.Duplicate, model.Ended, model.Failed)

	equal(t, "progress", b.progress(t, item.ID), queue.Progress{Item: item.ID, Epoch: 1, Served: 5, Seq: 6, Queued: 1,
		Available: row.Available, Version: row.Version})
	rest := b.peek(t, item.ID, 10)
	equal(t, "entries left", len(rest.Entries), 1)
	equal(t, "served", rest.Served, 5)
	equal(t, "version", rest.Version, row.Version)
	equal(t, "first left", rest.Entries[0].Buyer, "waits")

	won := b.join(t, item.ID, "won")
	equal(t, "winner is marked", won.Marked, true)
	equal(t, "winner's ticket", won.Ticket.Seq, 1)
	b.mirror(t, changed(row, func(i *model.Item) { i.Available = 0 }))
	equal(t, "winner is marked, whatever the gate says", b.join(t, item.ID, "won").Marked, true)
	b.mirror(t, changed(row, func(i *model.Item) { i.Version++; i.Available = 9 }))
	for n, buyer := range []model.Buyer{"sold", "dup", "ended", "failed"} {
		again := b.join(t, item.ID, buyer)
		equal(t, "loser's next ticket", again.Ticket.Seq, int64(7+n))
		equal(t, "loser is not marked", again.Marked, false)
	}
	equal(t, "the one who waits", b.join(t, item.ID, "waits").Ticket.Seq, 6)
}

func settleAgain(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann", "bob", "cid")
	first := b.peek(t, item.ID, 2)
	b.settle(t, first, changed(item, func(i *model.Item) { i.Available-- }), model.Won, model.SoldOut)
	b.join(t, item.ID, "bob")

	// Again, by somebody with another opinion: nothing but the row is taken.
	row := changed(item, func(i *model.Item) { i.Version++; i.Available = 7 })
	b.settle(t, first, row, model.SoldOut, model.SoldOut)
	equal(t, "progress", b.progress(t, item.ID), queue.Progress{Item: item.ID, Epoch: 1, Served: 2, Seq: 4, Queued: 2,
		Available: 7, Version: row.Version})
	equal(t, "ann's verdict", b.look(t, ticketOf(item.ID, first.Entries[0])).Verdict, model.Won)
	equal(t, "bob's new ticket", b.join(t, item.ID, "bob").Ticket.Seq, 4)

	// A batch from the middle is not at the head.
	batch := b.peek(t, item.ID, 2)
	batch.Entries = batch.Entries[1:]
	b.settle(t, batch, row, model.Ended)
	equal(t, "queued", b.progress(t, item.ID).Queued, 2)

	// Nor is an empty one.
	b.settle(t, queue.Batch{Item: item.ID, Epoch: 1}, changed(row, func(i *model.Item) { i.Available = 8 }))
	equal(t, "available", b.progress(t, item.ID).Available, 8)

	wrong := queue.Settlement{Batch: b.peek(t, item.ID, 2), Verdicts: []model.Verdict{model.Won}, Item: row}
	if err := b.Queue.Settle(t.Context(), wrong); err == nil {
		t.Error("one verdict for two entries was taken")
	}
}

func settleEpoch(t *testing.T, b *Backend) {
	item := b.item(t)
	b.join(t, item.ID, "ann")
	batch := b.peek(t, item.ID, 1)
	for _, epoch := range []int64{0, 2} {
		batch.Epoch = epoch
		s := queue.Settlement{Batch: batch, Verdicts: []model.Verdict{model.SoldOut},
			Item: changed(item, func(i *model.Item) { i.Available = 1 })}
		if err := b.Queue.Settle(t.Context(), s); !errors.Is(err, queue.ErrEpoch) {
			t.Errorf("epoch %d: %v", epoch, err)
		}
	}
	equal(t, "progress", b.progress(t, item.ID), queue.Progress{Item: item.ID, Epoch: 1, Seq: 1, Queued: 1,
		Available: item.Available, Version: item.Version})
}

func unmark(t *testing.T, b *Backend) {
	item := b.item(t)
	ticket := b.join(t, item.ID, "ann").Ticket
	try := func(what string, ticket model.Ticket, want int64) {
		t.Helper()
		if err := b.Queue.Unmark(t.Context(), ticket); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		equal(t, what, b.join(t, item.ID, "ann").Ticket.Seq, want)
	}
	try("not decided yet", ticket, 1)
	b.joinAll(t, item.ID, "bob")
	b.settle(t, b.peek(t, item.ID, 2), item, model.Won, model.Won)
	other, older, foreign := ticket, ticket, ticket
	other.Seq, older.Epoch, foreign.Buyer = 2, 0, "bob"
	try("another number", other, 1)
	try("another epoch", older, 1)
	try("another buyer", foreign, 1)
	equal(t, "bob's", b.join(t, item.ID, "bob").Ticket.Seq, 2)
	try("this one", ticket, 3)
	try("this one again, with a new ticket out", ticket, 3)
	equal(t, "newest", b.find(t, item.ID, "ann").State, queue.Queued)
}

func mirror(t *testing.T, b *Backend) {
	item := b.item(t)
	newer := item
	newer.Version = 5
	newer.Available, newer.StartsAt, newer.EndsAt, newer.Paused, newer.ClosedAt = 3, start-10, start+10, true, 0
	b.mirror(t, newer)
	b.refused(t, item.ID, "ann", model.ErrPaused)
	for _, version := range []int64{1, 4, 5} {
		old := item
		old.Version = version
		b.mirror(t, old)
		if err := b.Queue.Install(t.Context(), old); err != nil {
			t.Fatal(err)
		}
		b.settle(t, queue.Batch{Item: item.ID, Epoch: 1}, old)
		b.refused(t, item.ID, "ann", model.ErrPaused)
		equal(t, "available", b.progress(t, item.ID).Available, 3)
		equal(t, "version", b.progress(t, item.ID).Version, 5)
	}
	b.mirror(t, changed(newer, func(i *model.Item) { i.Paused = false }))
	b.join(t, item.ID, "ann")
	b.SetNow(start + 10)
	b.refused(t, item.ID, "bob", model.ErrEnded)
}

func ticketOf(item model.ID, e model.Entry) model.Ticket {
	return model.Ticket{Item: item, Epoch: e.Epoch, Seq: e.Seq, Quantity: e.Quantity, Buyer: e.Buyer}
}
