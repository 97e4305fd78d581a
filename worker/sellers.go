// Package worker is what happens without a request: one seller goroutine for each item takes the item's queue in order,
// has each batch decided in SQL, and settles it. A seller without tickets costs nothing: it is woken by the queue, and a
// sweep every second is the net under lost messages, which also brings the queue's mirror up to date with SQL.
//
// Nothing here holds a promise alone: a seller may stop, repeat, wake late or run twice, and SQL's row lock and decided
// still give one verdict to a ticket.
package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// Sellers runs one seller for each item that is not over.
type Sellers struct {
	store   *store.Store
	queue   queue.Queue
	decide  decideFunc
	log     *slog.Logger
	metrics *metrics
	sweep   time.Duration

	// Only the goroutine of Run touches these.
	running map[model.ID]*seller
	known   map[model.ID]bool // items that the queue may keep
	backoff backoff

	working sync.WaitGroup
}

// Options of New.
type Options struct {
	Store   *store.Store
	Queue   queue.Queue
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	Sweep   time.Duration         // 0: a second
}

// New makes the sellers. It starts no goroutine.
func New(opt Options) *Sellers {
	if opt.Sweep == 0 {
		opt.Sweep = time.Second
	}
	return &Sellers{store: opt.Store, queue: opt.Queue, decide: opt.Store.Decide, log: opt.Log,
		metrics: newMetrics(opt.Metrics), sweep: opt.Sweep,
		running: map[model.ID]*seller{}, known: map[model.ID]bool{}}
}

// Run sells until ctx ends; then it lets the batches under way finish, and waits for them. It may run once.
func (s *Sellers) Run(ctx context.Context) error {
	defer s.working.Wait()
	messages := s.queue.Subscribe(ctx)
	tick := time.NewTicker(s.sweep)
	defer tick.Stop()
	s.sweepAndLog(ctx)
	for {
		select {
		case <-ctx.Done():
			return nil
		case m, open := <-messages:
			if !open {
				messages = nil // the sweep goes on alone
				continue
			}
			s.hear(ctx, m)
		case <-tick.C:
			s.sweepAndLog(ctx)
		}
	}
}

// hear acts on a message: news of an item reaches its seller at once.
func (s *Sellers) hear(ctx context.Context, m queue.Message) {
	switch m.Kind {
	case queue.Woken, queue.Changed:
		s.start(ctx, m.Item).wake()
	case queue.Missed:
		s.sweepAndLog(ctx)
	}
}

// sweepAndLog runs one sweep; a failure is logged now and then, and the next sweep is the next try.
func (s *Sellers) sweepAndLog(ctx context.Context) {
	err := s.runOnce(ctx)
	if err == nil || ctx.Err() != nil {
		s.backoff = backoff{}
		return
	}
	s.backoff.fail()
	if s.backoff.loud() {
		s.log.Warn("sweep failed, will try again", "failures", s.backoff.failures, "error", err)
	}
}

// start is the item's seller, started if there is none.
func (s *Sellers) start(ctx context.Context, item model.ID) *seller {
	if running, ok := s.running[item]; ok {
		return running
	}
	ctx, end := context.WithCancel(ctx)
	started := s.newSeller(item)
	started.end = end
	s.running[item] = started
	s.metrics.sellers.Set(float64(len(s.running)))
	s.working.Go(func() { started.run(ctx) })
	return started
}

func (s *Sellers) newSeller(item model.ID) *seller {
	return &seller{item: item, queue: s.queue, decide: s.decide, metrics: s.metrics,
		log: s.log.With("item", item.String()), woken: make(chan struct{}, 1)}
}

// stop ends the item's seller, if there is one, after the batch under way.
func (s *Sellers) stop(item model.ID) {
	running, ok := s.running[item]
	if !ok {
		return
	}
	running.end()
	delete(s.running, item)
	s.metrics.sellers.Set(float64(len(s.running)))
}
