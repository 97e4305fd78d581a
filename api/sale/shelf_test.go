package sale

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
)

// rack is a shelf before a store that a test can change, put to sleep and break. It is used in a synctest bubble.
type rack struct {
	*shelf
	item  model.Item
	err   error
	sleep time.Duration
	reads int
}

func newRack() *rack {
	r := &rack{item: model.Item{ID: 1, Version: 1}}
	r.shelf = newShelf(func(ctx context.Context, _ model.ID) (model.Item, error) {
		item, err := r.item, r.err // what the store had when the read began
		r.reads++
		select {
		case <-time.After(r.sleep):
			return item, err
		case <-ctx.Done():
			return model.Item{}, ctx.Err()
		}
	}, time.Now)
	return r
}

func (r *rack) want(t *testing.T, version int64, reads int) {
	t.Helper()
	got, err := r.shelf.item(context.Background(), 1)
	if err != nil || got.Version != version || r.reads != reads {
		t.Errorf("version %d, %d reads, error %v; want version %d, %d reads", got.Version, r.reads, err, version, reads)
	}
}

func TestShelfReadsOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.want(t, 1, 1)
		r.item.Version = 2
		time.Sleep(freshFor - time.Nanosecond)
		r.want(t, 1, 1)
		time.Sleep(time.Nanosecond)
		r.want(t, 2, 2)
		r.item.Version = 3
		r.forget(1)
		r.want(t, 3, 3)
	})
}

func TestShelfReadsOnceForAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.sleep = time.Millisecond
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { r.want(t, 1, 1) })
		}
		all.Wait()
	})
}

func TestShelfOutlivesItsStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.want(t, 1, 1)
		r.err = errors.New("away")
		time.Sleep(freshFor)
		r.want(t, 1, 2)
		r.want(t, 1, 2) // not tried again at once
		r.forget(1)
		r.want(t, 1, 3)
		r.sleep = time.Hour
		time.Sleep(freshFor)
		start := time.Now()
		r.want(t, 1, 4)
		if waited := time.Since(start); waited != loadFor {
			t.Errorf("waited %v for a store that hangs", waited)
		}
		r.sleep, r.err = 0, model.ErrNotFound
		time.Sleep(freshFor)
		if _, err := r.shelf.item(context.Background(), 1); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("error %v", err)
		}
	})
}

func TestShelfKeepsNothingThatWasForgottenDuringTheRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.sleep = time.Second / 10
		var reading sync.WaitGroup
		reading.Go(func() { r.want(t, 1, 1) })
		synctest.Wait()
		r.item.Version = 2
		r.forget(1)
		reading.Wait()
		r.want(t, 2, 2)
	})
}
