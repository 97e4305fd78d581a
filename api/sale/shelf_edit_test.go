package sale

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// An admin was told that an edit stands: every click after that goes by it, also those that come while one reads it.
func TestShelfShowsAnEditToAllWhoComeAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.want(t, 1, 1)
		r.sleep = time.Millisecond
		r.item.Version = 2
		r.forget(1)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { r.want(t, 2, 2) })
		}
		all.Wait()
	})
}

// While SQL does not answer, clicks are not held up for an edit one after the other.
func TestShelfWaitsOnceForAnEditThatCanNotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRack()
		r.want(t, 1, 1)
		r.err = errors.New("away")
		r.forget(1)
		r.want(t, 1, 2)
		r.want(t, 1, 2)
		r.err, r.item.Version = nil, 2
		time.Sleep(freshFor)
		r.want(t, 2, 3)
	})
}
