package queue_test

import (
	"context"
	"slices"
	"testing"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
)

// SQL judges, Redis loses everything: winners keep what they have, those in line are lost in the epoch that both name,
// numbers go on.
func TestRedisAndSQLAgreeOnWhatIsLost(t *testing.T) {
	t.Parallel()
	ctx, db, server := context.Background(), openStore(t), redistest.Start(t)
	q, err := queue.OpenRedis(db, queue.RedisOptions{URL: server.URL(0)})
	must(t, err)
	defer func() { must(t, q.Close()) }()
	item, err := db.CreateItem(ctx, model.Item{Title: "Tea", Price: model.Money{Amount: 1, Currency: "CNY"}, Stock: 5, Available: 5,
		PerBuyerLimit: 1, PayWithin: 9, StartsAt: 1, Epoch: 1, Version: 1})
	must(t, err)
	must(t, q.Install(ctx, item))
	join := func(buyer string) model.Ticket {
		t.Helper()
		a, err := q.Join(ctx, item.ID, queue.Click{Buyer: model.Buyer(buyer), Quantity: 1})
		must(t, err)
		return a.Ticket
	}
	sell := func() []model.Verdict {
		t.Helper()
		b, err := q.Peek(ctx, item.ID, queue.MaxPeek)
		must(t, err)
		out, err := db.Decide(ctx, item.ID, b.Epoch, b.Entries)
		must(t, err)
		must(t, q.Settle(ctx, queue.Settlement{Batch: b, Verdicts: out.Verdicts, Item: out.Item}))
		return out.Verdicts
	}
	winner := join("ann")
	sell()
	lost := join("bob")
	server.Do("FLUSHALL")
	must(t, q.Install(ctx, item))

	for ticket, want := range map[model.Ticket]model.Verdict{winner: model.Won, lost: 0} {
		p, err := q.Look(ctx, ticket)
		must(t, err)
		fate, err := db.Fate(ctx, ticket)
		must(t, err)
		if p.State != queue.Gone || fate.Verdict != want || fate.Epoch != p.Epoch {
			t.Errorf("%s: %+v, %+v", ticket.Buyer, p, fate)
		}
	}
	join("ann")
	again := join("bob")
	if again.Seq != 3 || again.Epoch == lost.Epoch {
		t.Errorf("bob's new ticket: %+v", again)
	}
	if got := sell(); !slices.Equal(got, []model.Verdict{model.Duplicate, model.Won}) {
		t.Errorf("verdicts %v", got)
	}
}
