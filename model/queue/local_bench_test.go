package queue_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

// nowhere is a journal that keeps nothing, to see what the queue alone costs.
type nowhere struct{}

func (nowhere) AppendJournal(context.Context, model.ID, int64, [][]byte) error { return nil }
func (nowhere) LoadJournal(context.Context, model.ID) ([]model.EntryGroup, error) {
	return nil, nil
}
func (nowhere) LoadHolders(context.Context, model.ID) ([]model.Order, error) { return nil, nil }
func (nowhere) LoadDecisions(context.Context, model.ID, func(model.Decision) error) error {
	return nil
}

// BenchmarkLocalJoin is accepted clicks, each of a new buyer, by 256 callers at once.
func BenchmarkLocalJoin(b *testing.B) {
	b.Run("no journal", func(b *testing.B) {
		joinAll(b, nowhere{}, model.Item{ID: 1, Epoch: 1, Version: 1, Available: 1, StartsAt: 1})
	})
	b.Run("SQLite", func(b *testing.B) {
		s := openStore(b)
		item, err := s.CreateItem(b.Context(), model.Item{Title: "Tea", Price: model.Money{Amount: 1, Currency: "CNY"},
			Stock: 1, Available: 1, PerBuyerLimit: 1, PayWithin: 1, StartsAt: 1, Epoch: 1, Version: 1})
		if err != nil {
			b.Fatal(err)
		}
		joinAll(b, s, item)
	})
}

func joinAll(b *testing.B, journal queue.Journal, item model.Item) {
	q := queue.NewLocal(journal, model.NewClock(time.Now), queue.LocalOptions{Limit: 1 << 40})
	if err := q.Install(b.Context(), item); err != nil {
		b.Fatal(err)
	}
	var buyers atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(128)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			buyer := model.Buyer("buyer " + strconv.FormatInt(buyers.Add(1), 10))
			if _, err := q.Join(b.Context(), item.ID, queue.Click{Buyer: buyer, Quantity: 1}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "clicks/s")
}
