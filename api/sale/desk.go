// Package sale is the counter: what shoppers and admins can do, and what they are shown, without HTTP. The JSON calls,
// the pages and the socket hub all stand on it, so that each answers the same. It joins the two halves of the truth in
// the one right order, the queue first and SQL second, and owns no state but caches.
package sale

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// maxVerdicts is how many decided tickets are remembered, some 200 bytes each.
const maxVerdicts = 32_768

// keptFor is how long after its end an item's queue is kept at least: until then a queue that does not know the item
// is in doubt, later it has forgotten it for good.
const keptFor = 24 * time.Hour

// Desk answers shoppers and admins. Safe for concurrent use.
type Desk struct {
	store *store.Store
	queue queue.Queue
	mac   model.TicketMAC
	log   *slog.Logger
	now   func() time.Time

	shelf   *shelf
	holders singleflight.Group // reads of buyers' orders, see refuseHolder
	// verdicts never change. What hangs on them, an order, does, and is read each time.
	verdicts *lru.Cache[model.Ticket, model.Verdict]
	// complained is when an outage was last logged, in Unix seconds.
	complained atomic.Int64
}

// Options of New; all but Now are required.
type Options struct {
	Store *store.Store
	Queue queue.Queue
	MAC   model.TicketMAC
	Log   *slog.Logger
	Now   func() time.Time // for the age of what is cached; time.Now
}

// New makes a desk. It starts no goroutine.
func New(opt Options) *Desk {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	return &Desk{store: opt.Store, queue: opt.Queue, mac: opt.MAC, log: opt.Log, now: opt.Now,
		shelf: newShelf(opt.Store.Item, opt.Now), verdicts: newCache[model.Ticket, model.Verdict](maxVerdicts)}
}

// newCache makes a cache of size entries, at least one.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err)
	}
	return c
}

// Now is the gate's clock. No answer: model.ErrUnavailable.
func (d *Desk) Now(ctx context.Context) (model.Instant, error) {
	now, err := d.queue.Now(ctx)
	return now, d.shown("read the gate's clock", err)
}

// Forget drops what is cached of an item: the queue has said that it changed.
func (d *Desk) Forget(item model.ID) { d.shelf.forget(item) }

// shown is err as it may leave the desk: nil and refusals as they are, everything else as model.ErrUnavailable with
// the cause wrapped. Causes are logged, at most one a second: an outage has one for every click.
func (d *Desk) shown(doing string, err error) error {
	var refusal *model.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &refusal):
		err = fmt.Errorf("%w: %s: %w", model.ErrUnavailable, doing, err)
	case refusal.Code != model.CodeUnavailable:
		return err
	}
	now, last := d.now().Unix(), d.complained.Load()
	if now != last && !errors.Is(err, context.Canceled) && d.complained.CompareAndSwap(last, now) {
		d.log.Warn("no answer", "doing", doing, "error", err)
	}
	return err
}

// removed reports whether the queue has forgotten the item for good: it has been over for long.
func removed(i model.Item, now model.Instant) bool {
	over := i.EndsAt
	if i.ClosedAt != 0 && (over == 0 || i.ClosedAt < over) {
		over = i.ClosedAt
	}
	return over != 0 && now.Sub(over) > keptFor
}
