package model

import (
	"encoding/json"
	"sync"
	"testing"
	"time"
)

func TestInstantsAreUTCToTheMillisecond(t *testing.T) {
	t.Parallel()
	shanghai := time.FixedZone("", 8*3600)
	i := InstantOf(time.Date(2026, 1, 2, 11, 4, 5, 678_999_999, shanghai))
	if i.String() != "2026-01-02T03:04:05.678Z" {
		t.Errorf("%s", i)
	}
	if b, err := json.Marshal(i); err != nil || string(b) != `"2026-01-02T03:04:05.678Z"` {
		t.Errorf("%s, %v", b, err)
	}
	if InstantOf(i.Time()) != i || i.Time().Location() != time.UTC {
		t.Errorf("%v", i.Time())
	}
	if later := i.Add(1500*time.Millisecond + 999*time.Microsecond); later.Sub(i) != 1500*time.Millisecond {
		t.Errorf("%v later", later.Sub(i))
	}
}

func TestNoInstant(t *testing.T) {
	t.Parallel()
	none := InstantOf(time.Time{})
	b, err := json.Marshal(none)
	if none != 0 || none.String() != "" || !none.Time().IsZero() || string(b) != "null" || err != nil {
		t.Errorf("%d %q %v %s %v", none, none, none.Time(), b, err)
	}
}

func TestTheClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	n := int64(0)
	clock := NewClock(func() time.Time { // forth and back
		mu.Lock()
		defer mu.Unlock()
		n++
		return time.UnixMilli(1000 + n*7%100)
	})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			last := Instant(0)
			for range 1000 {
				now := clock.Now()
				if now < last {
					t.Errorf("%d after %d", now, last)
				}
				last = now
			}
		})
	}
	wg.Wait()
	if now := clock.Now(); now != 1099 {
		t.Errorf("the latest is %d", now)
	}
}
