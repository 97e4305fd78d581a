package worker

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store/mariadbtest"
)

// BenchmarkSeller measures orders a second through a seller, from tickets in line to verdicts told, and how many times
// that is what one transaction for each order gives in the same run.
func BenchmarkSeller(b *testing.B) {
	s := openShop(b)
	defer s.close()
	var batched, single rate
	for b.Loop() {
		item := s.publish(model.MaxStock)
		s.crowd(item, 2*queue.MaxPeek)
		batched.add(2*queue.MaxPeek, func() { s.must(s.sellers(s.queue).newSeller(item.ID).runOnce(b.Context())) })

		item = s.publish(model.MaxStock)
		s.crowd(item, 100)
		single.add(100, func() { s.must(s.sellers(oneByOne{s.queue}).newSeller(item.ID).runOnce(b.Context())) })
	}
	b.ReportMetric(batched.perSecond(), "orders/s")
	b.ReportMetric(single.perSecond(), "orders/s-alone")
	b.ReportMetric(batched.perSecond()/single.perSecond(), "ratio")
}

// BenchmarkSellerOnMariaDB is BenchmarkSeller with the queue on Redis and the orders in MariaDB, on a disk, with commits
// that wait for it.
func BenchmarkSellerOnMariaDB(b *testing.B) {
	server := mariadbtest.StartDurable(b)
	s := openShopOn(b, server.DSN(server.Database(b)))
	defer s.close()
	cache := redistest.Start(b, "--appendonly", "yes")
	front := s.openRedis(cache)
	var batched, single rate
	for b.Loop() {
		item := s.line(front, 2*queue.MaxPeek)
		batched.add(2*queue.MaxPeek, func() { s.must(s.sellers(front).newSeller(item.ID).runOnce(b.Context())) })
		item = s.line(front, 100)
		single.add(100, func() { s.must(s.sellers(oneByOne{front}).newSeller(item.ID).runOnce(b.Context())) })
	}
	b.ReportMetric(batched.perSecond(), "orders/s")
	b.ReportMetric(single.perSecond(), "orders/s-alone")
	b.ReportMetric(batched.perSecond()/single.perSecond(), "ratio")
}

// line is an item with so many buyers in line.
func (s *shop) line(q *queue.Redis, buyers int) model.Item {
	item := s.create(model.MaxStock, func(i *model.Item) { i.StartsAt = 1 })
	s.must(q.Install(s.t.Context(), item))
	var joining sync.WaitGroup
	for n := range buyers {
		joining.Go(func() {
			_, err := q.Join(s.t.Context(), item.ID, queue.Click{Buyer: model.Buyer(fmt.Sprint("buyer ", n)), Quantity: 1})
			if err != nil {
				s.t.Error(err)
			}
		})
	}
	joining.Wait()
	return item
}

// oneByOne is a queue whose batches have one entry.
type oneByOne struct{ queue.Queue }

func (q oneByOne) Peek(ctx context.Context, item model.ID, _ int) (queue.Batch, error) {
	return q.Queue.Peek(ctx, item, 1)
}

// rate is so many orders in so much time.
type rate struct {
	orders int
	took   time.Duration
}

func (r *rate) add(orders int, work func()) {
	start := time.Now()
	work()
	r.took += time.Since(start)
	r.orders += orders
}

func (r rate) perSecond() float64 { return float64(r.orders) / r.took.Seconds() }
