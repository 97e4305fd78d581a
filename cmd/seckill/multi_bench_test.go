package main_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store"
	"seckill/model/store/mariadbtest"
)

// BenchmarkOrders measures orders a second from tickets in line on Redis to verdicts told, decided on a MariaDB that keeps
// its data on a disk and waits for it at each COMMIT: batches as a seller takes them, and, in the same run, a batch for each
// order.
func BenchmarkOrders(b *testing.B) {
	maria, redis := mariadbtest.StartDurable(b), redistest.Start(b, "--appendonly", "yes")
	db, err := store.Open(b.Context(), maria.DSN(maria.Database(b)), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	if _, err := db.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	q, err := queue.OpenRedis(db, queue.RedisOptions{URL: redis.URL(0)})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Close() })
	l := line{b, db, q}
	const batched, alone = 2 * queue.MaxPeek, 60
	var inBatches, oneByOne time.Duration
	rounds := 0
	for b.Loop() {
		inBatches += l.decide(batched, queue.MaxPeek)
		oneByOne += l.decide(alone, 1)
		rounds++
	}
	fast := float64(rounds*batched) / inBatches.Seconds()
	slow := float64(rounds*alone) / oneByOne.Seconds()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(fast, "orders/s")
	b.ReportMetric(slow, "orders/s-alone")
	b.ReportMetric(fast/slow, "ratio")
}

// line is where tickets wait to be decided.
type line struct {
	b  *testing.B
	db *store.Store
	q  *queue.Redis
}

func (l line) must(err error) {
	l.b.Helper()
	if err != nil {
		l.b.Fatal(err)
	}
}

// decide puts n buyers in line for a new item and measures how long it takes to decide them, most at a time.
func (l line) decide(n, most int) time.Duration {
	l.b.Helper()
	ctx := l.b.Context()
	item, err := l.db.CreateItem(ctx, model.Item{Title: "Kettle", Price: model.Money{Amount: 1990, Currency: "CNY"},
		Stock: int64(n), Available: int64(n), PerBuyerLimit: 1, PayWithin: 900, StartsAt: 1, Version: 1, Epoch: 1})
	l.must(err)
	l.must(l.q.Install(ctx, item))
	l.join(ctx, item.ID, n)
	start := time.Now()
	for left := n; left > 0; {
		batch, err := l.q.Peek(ctx, item.ID, most)
		l.must(err)
		out, err := l.db.Decide(ctx, item.ID, batch.Epoch, batch.Entries)
		l.must(err)
		for seq, v := range out.Verdicts {
			if v != model.Won {
				l.b.Fatalf("entry %d is %v", seq, v)
			}
		}
		l.must(l.q.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: out.Verdicts, Item: out.Item}))
		left -= len(batch.Entries)
	}
	return time.Since(start)
}

func (l line) join(ctx context.Context, item model.ID, n int) {
	l.b.Helper()
	errs := make([]error, n)
	var joining sync.WaitGroup
	for i := range n {
		joining.Go(func() {
			_, errs[i] = l.q.Join(ctx, item, queue.Click{Buyer: model.Buyer(fmt.Sprint("buyer-", i)), Quantity: 1})
		})
	}
	joining.Wait()
	for _, err := range errs {
		l.must(err)
	}
}
