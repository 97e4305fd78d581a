package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
)

// openRedis is a queue of one more process on the shop's database.
func (s *shop) openRedis(server *redistest.Server) *queue.Redis {
	s.t.Helper()
	q, err := queue.OpenRedis(s.store, queue.RedisOptions{URL: server.URL(0)})
	s.must(err)
	s.t.Cleanup(func() { s.must(q.Close()) })
	return q
}

// shopper clicks until they are in line, and looks after their ticket until it has its one answer. Who was lost with
// Redis' data clicks again.
func (s *shop) shopper(q *queue.Redis, item model.ID, buyer model.Buyer) (model.Verdict, error) {
	deadline := time.After(30 * time.Second)
	var ticket model.Ticket
	for {
		select {
		case <-deadline:
			return 0, fmt.Errorf("no answer to %+v", ticket)
		case <-time.After(10 * time.Millisecond): // a page asks now and then
		}
		if ticket.Seq == 0 {
			a, err := q.Join(s.t.Context(), item, queue.Click{Buyer: buyer, Quantity: 1})
			switch {
			case errors.Is(err, model.ErrSoldOut):
				return model.SoldOut, nil
			case err == nil && a.Marked:
				return model.Won, nil
			case err == nil:
				ticket = a.Ticket
			}
			continue
		}
		place, err := q.Look(s.t.Context(), ticket)
		if err != nil || place.State == queue.Queued || place.State == queue.Unknown {
			continue
		}
		if place.State == queue.Decided {
			return place.Verdict, nil
		}
		fate, err := s.store.Fate(s.t.Context(), ticket)
		switch {
		case err != nil:
		case fate.Verdict != 0:
			return fate.Verdict, nil
		case fate.Epoch == place.Epoch:
			ticket = model.Ticket{} // lost
		}
	}
}

// Redis is emptied, killed and frozen in the middle of a sale, with two instances that sell. Everybody has an answer,
// and SQL holds every promise.
func TestTheSaleGoesOnWhenRedisDoesNot(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--appendonly", "yes")
	s := openShop(t)
	t.Cleanup(s.close)
	item := s.create(100, func(i *model.Item) { i.StartsAt = 1 }) // by the clock of Redis
	front := s.openRedis(server)
	s.must(front.Install(t.Context(), item))

	ctx, stop := context.WithCancel(t.Context())
	var working, shopping sync.WaitGroup
	for range 2 {
		sellers := s.sellers(s.openRedis(server))
		working.Go(func() {
			if err := sellers.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	answers := make([]model.Verdict, 400)
	crowd := func(from, to int) {
		for n := from; n < to; n++ {
			shopping.Go(func() {
				v, err := s.shopper(front, item.ID, model.Buyer(fmt.Sprint("buyer ", n)))
				if err != nil {
					t.Error(err)
				}
				answers[n] = v
			})
		}
	}
	crowd(0, 60)
	server.Do("FLUSHALL")
	crowd(60, 90)
	server.Restart()
	crowd(90, 200)
	server.Freeze()
	crowd(200, 400)
	time.Sleep(2 * time.Second) // longer than anybody waits for it
	server.Thaw()
	shopping.Wait()
	stop()
	working.Wait()

	won := 0
	for n, v := range answers {
		if v == model.Won {
			won++
		} else if v != model.SoldOut && v != model.Duplicate {
			t.Errorf("buyer %d: %v", n, v)
		}
	}
	row, err := s.store.Item(t.Context(), item.ID)
	s.must(err)
	progress, err := front.Progress(t.Context(), item.ID)
	s.must(err)
	if len(s.orders(item)) != 100 || row.Available != 0 || progress[0].Available != 0 || progress[0].Queued != 0 {
		t.Errorf("%d orders, %d told, %+v, %+v", len(s.orders(item)), won, row, progress[0])
	}
	checks, err := s.store.Audit(t.Context())
	s.must(err)
	for _, c := range checks {
		if !c.OK {
			t.Errorf("%s: %+v", c.Promise, c.Breaches)
		}
	}
}
