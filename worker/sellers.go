// Package worker is what happens without a request: one seller goroutine for each item takes the item's queue in order,
// has each batch decided in SQL, and settles it. A seller without tickets costs nothing: it is woken by the queue, and a
// sweep every second is the net under lost messages, which also brings the queue's mirror up to date with SQL.
//
// Any number of workers share the items: each says once a second that it lives, and whose an item is follows from the
// names of those who live. The owner sells, refreshes the mirror, and puts the queue up again when the queue has lost it.
//
// Nothing here holds a promise alone: a seller may stop, repeat, wake late or run twice, and SQL's row lock and decided
// still give one verdict to a ticket.
package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// Sellers runs one seller for each item that is not over and is this worker's.
type Sellers struct {
	store   *store.Store
	queue   queue.Queue
	peeked  func(ctx context.Context, item model.ID) context.Context
	decide  decideFunc
	log     *slog.Logger
	metrics *metrics
	sweep   time.Duration
	owners  owners
	soon    chan struct{} // capacity 1: a sweep is wanted before its time

	// Only sweeps touch these, one at a time.
	known   map[model.ID]bool      // items that the queue may keep
	seeded  bool                   // known has those that were over before this worker began
	bad     map[model.ID]time.Time // items whose queue does not stand, since when that was seen
	backoff backoff

	mu      sync.Mutex
	running map[model.ID]*seller
	working sync.WaitGroup
}

// Options of New.
type Options struct {
	Store   *store.Store
	Queue   queue.Queue
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	Sweep   time.Duration         // 0: a second
	// Name is this worker's, other than that of any other; empty: one that nobody has.
	Name string
	// Peeked, where it is set, is called between the peek and the decision of each batch, which goes on under the context
	// that it returns. It is for builds that are tested, to hold a seller there; nil otherwise.
	Peeked func(ctx context.Context, item model.ID) context.Context
}

// New makes the sellers. It starts no goroutine.
func New(opt Options) *Sellers {
	if opt.Sweep == 0 {
		opt.Sweep = time.Second
	}
	return &Sellers{store: opt.Store, queue: opt.Queue, peeked: opt.Peeked, decide: opt.Store.Decide,
		log: opt.Log, metrics: newMetrics(opt.Metrics), sweep: opt.Sweep, owners: owners{self: cmp.Or(opt.Name, rand.Text())},
		soon: make(chan struct{}, 1), known: map[model.ID]bool{}, bad: map[model.ID]time.Time{},
		running: map[model.ID]*seller{}}
}

// Run sells until ctx ends; then it lets the batches under way finish, and waits for them. It may run once.
func (s *Sellers) Run(ctx context.Context) error {
	messages := s.queue.Subscribe(ctx)
	var loops sync.WaitGroup
	loops.Go(func() { s.beat(ctx) })
	loops.Go(func() { s.keepSwept(ctx) })
	s.listen(ctx, messages)
	loops.Wait()
	s.leave(ctx)
	s.working.Wait()
	return nil
}

// listen acts on messages until ctx ends: news of an item reaches its seller at once. It waits for nothing else.
func (s *Sellers) listen(ctx context.Context, messages <-chan queue.Message) {
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				messages = nil // the sweep goes on alone
				continue
			}
			s.hear(ctx, m)
		}
	}
}

func (s *Sellers) hear(ctx context.Context, m queue.Message) {
	switch m.Kind {
	case queue.Woken, queue.Changed:
		if s.owners.owns(m.Item) {
			s.start(ctx, m.Item).wake()
		}
	case queue.Missed:
		s.sweepSoon()
	}
}

// keepSwept sweeps now, at every tick and when it is wanted, until ctx ends.
func (s *Sellers) keepSwept(ctx context.Context) {
	tick := time.NewTicker(s.sweep)
	defer tick.Stop()
	for {
		s.sweepAndLog(ctx)
		select {
		case <-ctx.Done():
			return
		case <-s.soon:
		case <-tick.C:
		}
	}
}

// sweepSoon has the next sweep begin at once.
func (s *Sellers) sweepSoon() {
	select {
	case s.soon <- struct{}{}:
	default:
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
	s.mu.Lock()
	defer s.mu.Unlock()
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
	return &seller{item: item, queue: s.queue, peeked: s.peeked, decide: s.decide, metrics: s.metrics,
		log: s.log.With("item", item.String()), woken: make(chan struct{}, 1)}
}

// stop ends the item's seller, if there is one, after the batch under way.
func (s *Sellers) stop(item model.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	running, ok := s.running[item]
	if !ok {
		return
	}
	running.end()
	delete(s.running, item)
	s.metrics.sellers.Set(float64(len(s.running)))
}
