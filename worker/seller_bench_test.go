package worker

import (
	"context"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
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
