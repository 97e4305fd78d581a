// Package sale is the counter: what shoppers and admins can do, and what they are shown, without HTTP. The JSON calls,
// the pages and the socket hub all stand on it, so that each answers the same. It joins the two halves of the truth in
// the one right order, the queue first and SQL second, and owns no state but caches.
package sale

import (
	"context"
	"log/slog"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// Desk answers shoppers and admins. Safe for concurrent use.
type Desk struct {
	store *store.Store
	queue queue.Queue
	mac   model.TicketMAC
	log   *slog.Logger
}

// Options of New; all are required.
type Options struct {
	Store *store.Store
	Queue queue.Queue
	MAC   model.TicketMAC
	Log   *slog.Logger
}

// New makes a desk. It starts no goroutine.
func New(opt Options) *Desk { panic("todo") }

// Now is the gate's clock.
func (d *Desk) Now(ctx context.Context) (model.Instant, error) { return d.queue.Now(ctx) }

// Forget drops what is cached of an item: the queue has said that it changed.
func (d *Desk) Forget(item model.ID) { panic("todo") }
