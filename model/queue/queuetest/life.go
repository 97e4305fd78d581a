package queuetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func restartKeeps(t *testing.T, b *Backend) {
	item := b.item(t, stock(2))
	b.joinAll(t, item.ID, "ann", "bob", "cid", "ann|1|2", "eve")
	before := b.peek(t, item.ID, 10)
	_, row := b.decide(t, item.ID, 2)
	b.restart(t, row)

	after := b.peek(t, item.ID, 10)
	equal(t, "undecided", len(after.Entries), 3)
	for n, e := range after.Entries {
		equal(t, "entry", e, before.Entries[2+n])
	}
	equal(t, "served", after.Served, 2)
	equal(t, "highest", after.Seq, 5)
	again := b.join(t, item.ID, "cid")
	equal(t, "cid's ticket", again.Ticket, ticketOf(item.ID, before.Entries[2]))
	equal(t, "cid's place", again.Ahead, 0)
	equal(t, "a queued ticket", b.look(t, ticketOf(item.ID, before.Entries[4])).Ahead, 2)

	if err := b.Queue.Install(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	equal(t, "installed twice", b.progress(t, item.ID).Queued, 3)
	b.decide(t, item.ID, 10)
	equal(t, "all decided", b.progress(t, item.ID).Queued, 0)
}

func numbersGoOn(t *testing.T, b *Backend) {
	item := b.item(t, stock(1))
	last, row := int64(0), item
	for life := range 4 {
		for n := range 3 {
			seq := b.join(t, item.ID, model.Buyer(fmt.Sprint(life, n))).Ticket.Seq
			equal(t, "number", seq, last+1)
			last = seq
		}
		if life%2 == 0 { // the journal is empty at the next start
			row.Paused = false
			_, row = b.decide(t, item.ID, 10)
			row = changed(row, func(i *model.Item) { i.Available = 1 })
		}
		b.restart(t, row)
	}
	equal(t, "highest", b.progress(t, item.ID).Seq, last)
}

func nextEpoch(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann", "bob", "cid")
	old := b.peek(t, item.ID, 1)
	_, row := b.decide(t, item.ID, 1)
	row = b.nextEpoch(t, row)
	batch := b.peek(t, item.ID, 10)
	equal(t, "epoch", batch.Epoch, 2)
	equal(t, "entries", len(batch.Entries), 2)
	equal(t, "bob's entry", ticketOf(item.ID, batch.Entries[0]), model.Ticket{Item: item.ID, Epoch: 1, Seq: 2, Quantity: 1, Buyer: "bob"})
	equal(t, "bob's ticket", b.join(t, item.ID, "bob").Ticket.Epoch, 1)
	equal(t, "bob's state", b.look(t, ticketOf(item.ID, batch.Entries[0])).State, queue.Queued)
	fresh := b.join(t, item.ID, "dan").Ticket
	equal(t, "a new ticket", fresh, model.Ticket{Item: item.ID, Epoch: 2, Seq: 4, Quantity: 1, Buyer: "dan"})
	fresh.Epoch = 1
	equal(t, "its number in the epoch before", b.look(t, fresh).State, queue.Gone)
	s := queue.Settlement{Batch: old, Verdicts: []model.Verdict{model.Won}, Item: row}
	if err := b.Queue.Settle(t.Context(), s); !errors.Is(err, queue.ErrEpoch) {
		t.Errorf("a batch of the epoch before: %v", err)
	}
	if err := b.Queue.Install(t.Context(), item); err != nil && !errors.Is(err, queue.ErrEpoch) {
		t.Errorf("a row of the epoch before: %v", err)
	}
	equal(t, "epoch after it", b.progress(t, item.ID).Epoch, 2)
	b.settle(t, batch, row, model.SoldOut, model.Won)
	equal(t, "bob may join again", b.join(t, item.ID, "bob").Ticket.Seq, 5)
	equal(t, "cid has won", b.join(t, item.ID, "cid").Marked, true)
}

func installRemembers(t *testing.T, b *Backend) {
	item := b.item(t, stock(1))
	b.joinAll(t, item.ID, "ann", "bob")
	b.decide(t, item.ID, 1)
	_, row := b.decide(t, item.ID, 1)
	b.restart(t, row)

	equal(t, "the winner is marked", b.join(t, item.ID, "ann").Marked, true)
	equal(t, "the winner's newest", b.find(t, item.ID, "ann").Ticket.Seq, 1)
	lost := b.find(t, item.ID, "bob")
	equal(t, "the loser's newest", lost.Ticket, model.Ticket{Item: item.ID, Epoch: 1, Seq: 2, Quantity: 1, Buyer: "bob"})
	if lost.State != queue.Gone && lost.Verdict != model.SoldOut {
		t.Errorf("the loser's place: %+v", lost)
	}
	b.refused(t, item.ID, "bob", model.ErrSoldOut)
	ticket := model.Ticket{Item: item.ID, Epoch: 1, Seq: 1, Quantity: 1, Buyer: "ann"}
	if err := b.Queue.Unmark(t.Context(), ticket); err != nil {
		t.Fatal(err)
	}
	b.mirror(t, changed(row, func(i *model.Item) { i.Available = 1 }))
	equal(t, "the winner, unmarked", b.join(t, item.ID, "ann").Ticket.Seq, 3)
}

func poison(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann")
	line := func(seq int64, buyer model.Buyer) []byte {
		return queue.EncodeEntry(model.Entry{Epoch: 1, Seq: seq, At: start, Quantity: 1, Buyer: buyer})
	}
	bad := [][]byte{[]byte("garbage"), {}, []byte("2|1|4|1|1|bob"), line(9, "cid"), bytes.Repeat([]byte("x"), 1<<20),
		[]byte("1|1|7|1|1|"), []byte("1|1|8|1|99999999999|dan"), []byte("1|2|9|1|1|from an epoch to come")}
	b.Plant(t, item.ID, 2, append(bad, line(10, "eve"))...)
	b.restart(t, item)
	equal(t, "the next number", b.join(t, item.ID, "fay").Ticket.Seq, 11)

	batch := b.peek(t, item.ID, queue.MaxPeek)
	equal(t, "entries", len(batch.Entries), 11)
	for n, e := range batch.Entries {
		equal(t, "number", e.Seq, int64(n+1))
		if unreadable := n >= 1 && n < 9; unreadable != (e.Err != nil) || unreadable && !errors.Is(e.Err, model.ErrUnreadable) {
			t.Errorf("entry %d: %v", n+1, e.Err)
		}
	}
	equal(t, "the one behind them", b.look(t, ticketOf(item.ID, batch.Entries[9])).Ahead, 9)
	b.notFound(t, item.ID, "cid")

	messages := b.Queue.Subscribe(t.Context())
	verdicts, _ := b.decide(t, item.ID, queue.MaxPeek)
	told := next(t, messages).Told
	equal(t, "told", len(told), 3)
	for n, v := range verdicts {
		want := model.Won
		if n >= 1 && n < 9 {
			want = model.Failed
		}
		equal(t, "verdict", v, want)
		p := b.look(t, model.Ticket{Item: item.ID, Epoch: 1, Seq: int64(n + 1), Quantity: 1, Buyer: "ann"})
		equal(t, "verdict kept", p.Verdict, want)
	}
	equal(t, "left", b.progress(t, item.ID).Queued, 0)
}

func remove(t *testing.T, b *Backend) {
	item, other := b.item(t), b.item(t)
	b.joinAll(t, item.ID, "ann")
	b.joinAll(t, other.ID, "bob")
	if err := b.Queue.Remove(t.Context(), item.ID); err != nil {
		t.Fatal(err)
	}
	b.refused(t, item.ID, "ann", queue.ErrMissing)
	equal(t, "epoch of what is removed", b.progress(t, item.ID), queue.Progress{Item: item.ID})
	equal(t, "another item", b.progress(t, other.ID).Queued, 1)
}

func closeRefuses(t *testing.T, b *Backend) {
	item := b.item(t)
	b.joinAll(t, item.ID, "ann")
	if b.Faults != nil {
		closeWaits(t, b, item)
	}
	if err := b.Queue.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, q := t.Context(), b.Queue
	ticket := model.Ticket{Item: item.ID, Epoch: 1, Seq: 1, Quantity: 1, Buyer: "ann"}
	_, joined := q.Join(ctx, item.ID, queue.Click{Buyer: "ann", Quantity: 1})
	_, found := q.Find(ctx, item.ID, "ann")
	_, looked := q.Look(ctx, ticket)
	_, peeked := q.Peek(ctx, item.ID, 1)
	_, progressed := q.Progress(ctx, item.ID)
	_, told := q.Now(ctx)
	for what, err := range map[string]error{"join": joined, "find": found, "look": looked, "peek": peeked,
		"progress": progressed, "now": told, "install": q.Install(ctx, item), "mirror": q.Mirror(ctx, item),
		"unmark": q.Unmark(ctx, ticket)} {
		if !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("%s after close: %v", what, err)
		}
	}
}

// closeWaits closes the queue while a click's group is being kept: it is answered.
func closeWaits(t *testing.T, b *Backend, item model.Item) {
	entered, release, answered := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	b.Faults.keepBy(func(commit func() error) error {
		close(entered)
		<-release
		return commit()
	})
	go func() {
		_, err := b.Queue.Join(t.Context(), item.ID, queue.Click{Buyer: "bob", Quantity: 1})
		answered <- err
	}()
	<-entered
	closed := make(chan error, 1)
	go func() { closed <- b.Queue.Close() }()
	select {
	case err := <-closed:
		t.Errorf("closed with a click under way: %v", err)
	default:
	}
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the click under way: %v", err)
	}
}

func beats(t *testing.T, b *Backend) {
	for range 2 {
		live, err := b.Queue.Beat(t.Context(), "one")
		if err != nil || !slices.Equal(live, []string{"one"}) {
			t.Errorf("%v, %v", live, err)
		}
		if err := b.Queue.Leave(t.Context(), "one"); err != nil {
			t.Error(err)
		}
	}
}
