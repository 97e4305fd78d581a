package queue_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/queuetest"
	"seckill/model/queue/redistest"
)

// stall is an item on sale on a Redis of its own, with a judge in memory.

type stall struct {
	*testing.T
	server *redistest.Server
	judge  *queuetest.Memory
	queue  *queue.Redis
	item   model.ID
	given  map[[2]int64]model.Buyer // by epoch and number
}

func openStall(t *testing.T, stock int64, settings ...string) *stall {
	t.Helper()
	s := &stall{T: t, server: redistest.Start(t, settings...), judge: queuetest.NewMemory(), given: map[[2]int64]model.Buyer{}}
	s.queue = s.another()
	item, err := s.judge.Create(t.Context(), model.Item{Title: "Tea", Stock: stock, Available: stock, PerBuyerLimit: 5, StartsAt: 1,
		Epoch: 1, Version: 1})
	must(t, err)
	s.item = item.ID
	s.install()
	return s
}

// another is the queue of one more process.

func (s *stall) another() *queue.Redis {
	s.Helper()
	q, err := queue.OpenRedis(s.judge, queue.RedisOptions{URL: s.server.URL(0)})
	must(s, err)
	s.Cleanup(func() { must(s, q.Close()) })
	return q
}

func (s *stall) row() model.Item {
	s.Helper()
	row, err := s.judge.Item(s.Context(), s.item)
	must(s, err)
	return row
}

func (s *stall) install() {
	s.Helper()
	must(s, s.queue.Install(s.Context(), s.row()))
}

func (s *stall) key(name string) string { return "{" + s.item.String() + "}:" + name }

// join is a click that gets a ticket, whose number nobody has had.

func (s *stall) join(buyer model.Buyer) model.Ticket {
	s.Helper()
	a, err := s.queue.Join(s.Context(), s.item, queue.Click{Buyer: buyer, Quantity: 1})
	if err != nil {
		s.Fatalf("%s: %v", buyer, err)
	}
	key := [2]int64{a.Ticket.Epoch, a.Ticket.Seq}
	if had, given := s.given[key]; given && had != buyer {
		s.Fatalf("%s has the number %v of %s", buyer, key, had)
	}
	s.given[key] = buyer
	return a.Ticket
}

func (s *stall) crowd(name string, n int) []model.Ticket {
	s.Helper()
	tickets := make([]model.Ticket, n)
	for k := range n {
		tickets[k] = s.join(model.Buyer(fmt.Sprint(name, " ", k)))
	}
	return tickets
}

func (s *stall) refused(want error) {
	s.Helper()
	if _, err := s.queue.Join(s.Context(), s.item, queue.Click{Buyer: "somebody", Quantity: 1}); !errors.Is(err, want) {
		s.Fatalf("join: %v, want %v", err, want)
	}
}

// sell decides and settles until the queue is empty, and returns the verdicts by ticket.

func (s *stall) sell() map[model.Ticket]model.Verdict {
	s.Helper()
	told := map[model.Ticket]model.Verdict{}
	for {
		b, err := s.queue.Peek(s.Context(), s.item, 7)
		must(s, err)
		if len(b.Entries) == 0 {
			return told
		}
		verdicts, row, err := s.judge.Decide(s.Context(), s.item, b.Epoch, b.Entries)
		must(s, err)
		must(s, s.queue.Settle(s.Context(), queue.Settlement{Batch: b, Verdicts: verdicts, Item: row}))
		for n, e := range b.Entries {
			told[model.Ticket{Item: s.item, Epoch: e.Epoch, Seq: e.Seq, Quantity: e.Quantity, Buyer: e.Buyer}] = verdicts[n]
		}
	}
}

func (s *stall) look(t model.Ticket) queue.Place {
	s.Helper()
	p, err := s.queue.Look(s.Context(), t)
	must(s, err)
	return p
}

func (s *stall) progress() queue.Progress {
	s.Helper()
	p, err := s.queue.Progress(s.Context(), s.item)
	must(s, err)
	return p[0]
}

// next is the next message of the kind.

func (s *stall) next(messages <-chan queue.Message, kind queue.Kind) queue.Message {
	s.Helper()
	for {
		select {
		case m := <-messages:
			if m.Kind == kind {
				return m
			}
		case <-time.After(20 * time.Second):
			s.Fatalf("no message of kind %d", kind)
		}
	}
}

// A file cut by one join: the last in line is lost, everybody before stands, and the number is another ticket's.

// A file cut by one settle: what SQL has decided is in line again, and is told again, the same.

// Emptied, built up again, and then set back to before it was emptied: there is a gap, and what stands before it is not

// trusted.

// A file cut anywhere: nobody who won loses, and a number is nobody else's.

// A process that finds another one between SQL and Redis leaves the epoch to it, and the queue is kept.

// Somebody allocated an epoch and died. Its number is not told by anybody else, and the queue before the gap is lost.
