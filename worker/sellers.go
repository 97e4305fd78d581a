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
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/model/queue"
	"seckill/model/store"
)

// Sellers runs one seller for each item that is not over.
type Sellers struct{}

// Options of New.
type Options struct {
	Store   *store.Store
	Queue   queue.Queue
	Log     *slog.Logger
	Metrics prometheus.Registerer // nil: none
	Sweep   time.Duration         // 0: a second
}

// New makes the sellers. It starts no goroutine.
func New(opt Options) *Sellers { panic("todo") }

// Adopt installs the queue of every item that is not over. Call it before the first click; Run calls it again.
func (s *Sellers) Adopt(ctx context.Context) error { panic("todo") }

// Run sells until ctx ends; then it lets the batches under way finish, and waits for them.
func (s *Sellers) Run(ctx context.Context) error { panic("todo") }
