package sale

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"seckill/model"
)

const (
	maxShelf = 4_096
	freshFor = time.Second
	// loadFor bounds a read that many clicks may be waiting for.
	loadFor = 2 * time.Second
)

// shelf keeps items for the buy path, so that a click reads no SQL. An item on it may be a second old if nothing has said
// that it changed, and older while SQL does not answer: the click's quantity is judged again when its ticket is decided.
type shelf struct {
	load   func(context.Context, model.ID) (model.Item, error)
	now    func() time.Time
	flight singleflight.Group
	items  *lru.Cache[model.ID, *shelved]

	mu        sync.Mutex
	forgotten int64 // counts calls of forget
}

// shelved is an item on the shelf.
type shelved struct {
	item    model.Item
	next    atomic.Int64 // when it is to be read again, in Unix nanoseconds
	changed atomic.Bool  // it is known to be out of date: nobody is given it before it was read again
}

func newShelf(load func(context.Context, model.ID) (model.Item, error), now func() time.Time) *shelf {
	return &shelf{load: load, now: now, items: newCache[model.ID, *shelved](maxShelf)}
}

// item is the item as it was at most a second ago; for those who ask while one reads it again, a little longer, and
// while SQL fails, as it last was.
func (s *shelf) item(ctx context.Context, id model.ID) (model.Item, error) {
	old, known := s.items.Get(id)
	if known && !old.changed.Load() && !old.due(s.now()) {
		return old.item, nil
	}
	got, err, _ := s.flight.Do(id.String(), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadFor)
		defer cancel()
		return s.read(ctx, id)
	})
	switch {
	case err == nil:
		return got.(model.Item), nil
	case errors.Is(err, model.ErrNotFound):
		s.items.Remove(id)
	case known:
		old.next.Store(s.now().Add(freshFor).UnixNano())
		old.changed.Store(false)
		return old.item, nil
	}
	return model.Item{}, err
}

// due reports whether it is time to read the item again, to one caller each time. A next that is too far ahead is that of
// a clock which has been set back since.
func (e *shelved) due(now time.Time) bool {
	next := e.next.Load()
	left := time.Duration(next - now.UnixNano())
	return (left <= 0 || left > freshFor) && e.next.CompareAndSwap(next, now.Add(freshFor).UnixNano())
}

// read reads the item and shelves it, as changed if anything was forgotten during the read.
func (s *shelf) read(ctx context.Context, id model.ID) (model.Item, error) {
	s.mu.Lock()
	before := s.forgotten
	s.mu.Unlock()
	item, err := s.load(ctx, id)
	if err != nil {
		return model.Item{}, err
	}
	entry := &shelved{item: item}
	s.mu.Lock()
	defer s.mu.Unlock()
	entry.next.Store(s.now().Add(freshFor).UnixNano())
	entry.changed.Store(s.forgotten != before)
	s.items.Add(id, entry)
	return item, nil
}

// forget has the item read again before anybody is given it. It stays on the shelf for the case that SQL does not answer.
func (s *shelf) forget(id model.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten++
	s.flight.Forget(id.String())
	if e, ok := s.items.Peek(id); ok {
		e.changed.Store(true)
	}
}
