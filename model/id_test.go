package model

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestParseIDTakesOnlyCanonicalText(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "0", "-1", "+1", "01", "1 ", " 1", "1.0", "1e3", "9223372036854775808", "1 OR 1=1", "١"} {
		if id, err := ParseID(s); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q is %d, %v", s, id, err)
		}
	}
	id, err := ParseID("9223372036854775807")
	if err != nil || id.String() != "9223372036854775807" {
		t.Errorf("%v, %v", id, err)
	}
	if b, err := json.Marshal(id); err != nil || string(b) != `"9223372036854775807"` {
		t.Errorf("%s, %v", b, err)
	}
}

func TestIDsRiseThoughTheClockFalls(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	steps := []time.Duration{0, 0, time.Millisecond, -time.Hour, 0, 2 * time.Hour}
	var last ID
	g := NewIDs(3, func() time.Time { return now })
	for _, step := range steps {
		now = now.Add(step)
		for range 5000 { // more than a millisecond has
			id := g.Next()
			if id <= last || int64(id)>>idSeqBits&MaxNode != 3 {
				t.Fatalf("%d after %d", id, last)
			}
			last = id
		}
	}
}

func TestIDsAreUniqueAcrossGoroutinesAndNodes(t *testing.T) {
	t.Parallel()
	all := make([][]ID, 8)
	sources := []*IDs{NewIDs(0, time.Now), NewIDs(MaxNode, time.Now)}
	var wg sync.WaitGroup
	for n := range all {
		wg.Go(func() {
			for range 2000 {
				all[n] = append(all[n], sources[n%2].Next())
			}
		})
	}
	wg.Wait()
	ids := slices.Concat(all...)
	slices.Sort(ids)
	if got := len(slices.Compact(ids)); got != 16_000 {
		t.Errorf("%d different ids of 16000", got)
	}
}
