package queuetest

import (
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func look(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann", "bob", "cid", "dan", "eve", "fay")
	all := []model.Verdict{model.Won, model.SoldOut, model.Duplicate, model.Ended, model.Failed}
	b.settle(t, b.peek(t, item.ID, 5), item, all...)
	place := func(epoch, seq int64) queue.Place {
		ticket := model.Ticket{Item: item.ID, Epoch: epoch, Seq: seq, Quantity: 1, Buyer: "ann"}
		p := b.look(t, ticket)
		equal(t, "ticket", p.Ticket, ticket)
		equal(t, "present epoch", p.Epoch, 1)
		return p
	}
	for n, want := range all {
		p := place(1, int64(n+1))
		equal(t, "state", p.State, queue.Decided)
		equal(t, "verdict", p.Verdict, want)
	}
	equal(t, "the last", place(1, 6).State, queue.Queued)
	equal(t, "a number never given", place(1, 7).State, queue.Unknown)
	equal(t, "a later epoch", place(2, 1).State, queue.Unknown)
	equal(t, "an earlier epoch", place(0, 1).State, queue.Gone)
	equal(t, "nothing was written", b.progress(t, item.ID).Seq, 6)
}

func find(t *testing.T, b *Backend) {
	item := b.item(t)
	b.notFound(t, item.ID, "ann")
	b.joinAll(t, item.ID, "ann", "bob")
	p := b.find(t, item.ID, "bob")
	equal(t, "undecided", p, queue.Place{Ticket: model.Ticket{Item: item.ID, Epoch: 1, Seq: 2, Quantity: 1, Buyer: "bob"},
		State: queue.Queued, Ahead: 1, Epoch: 1})
	b.settle(t, b.peek(t, item.ID, 2), item, model.Won, model.SoldOut)
	equal(t, "the winner's", b.find(t, item.ID, "ann").Verdict, model.Won)
	equal(t, "the loser's", b.find(t, item.ID, "bob").Verdict, model.SoldOut)
	b.joinAll(t, item.ID, "bob")
	p = b.find(t, item.ID, "bob")
	equal(t, "the next one's number", p.Ticket.Seq, 3)
	equal(t, "the next one's state", p.State, queue.Queued)
	b.settle(t, b.peek(t, item.ID, 1), item, model.Ended)
	p = b.find(t, item.ID, "bob")
	equal(t, "the newest number", p.Ticket.Seq, 3)
	equal(t, "the newest verdict", p.Verdict, model.Ended)
	b.notFound(t, item.ID, "BOB")
}

func peekBounds(t *testing.T, b *Backend) {
	item := b.item(t)
	equal(t, "nothing", len(b.peek(t, item.ID, 5).Entries), 0)
	b.joinAll(t, item.ID, "ann", "bob")
	for most, want := range map[int]int{0: 0, -1: 0, 1: 1, 2: 2, 3: 2, 1 << 40: 2} {
		equal(t, "entries", len(b.peek(t, item.ID, most).Entries), want)
	}
	batch := b.peek(t, item.ID, 2)
	batch.Entries[0].Buyer = "scribble"
	equal(t, "a batch is a copy", b.peek(t, item.ID, 1).Entries[0].Buyer, "ann")
}

func progress(t *testing.T, b *Backend) {
	first, second, unknown := b.item(t), b.item(t, stock(7)), b.create(t)
	b.joinAll(t, second.ID, "ann", "bob")
	got, err := b.Queue.Progress(t.Context(), second.ID, unknown.ID, first.ID)
	if err != nil || len(got) != 3 {
		t.Fatal(got, err)
	}
	equal(t, "the first asked for", got[0], queue.Progress{Item: second.ID, Epoch: 1, Seq: 2, Queued: 2, Available: 7, Version: 1})
	equal(t, "one not installed", got[1], queue.Progress{Item: unknown.ID})
	equal(t, "the last asked for", got[2], queue.Progress{Item: first.ID, Epoch: 1, Available: 100, Version: 1})
}
