package sale

import (
	"context"
	"testing"
	"time"

	"seckill/model"
)

// A clock that is set back does not make what is on the shelf young.
func TestShelfReadsAgainAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_790_000_000_000)
	reads := 0
	s := newShelf(func(context.Context, model.ID) (model.Item, error) {
		reads++
		return model.Item{ID: 1}, nil
	}, func() time.Time { return now })
	for n, set := range []time.Duration{0, -time.Hour, 0, freshFor - time.Nanosecond, time.Nanosecond} {
		now = now.Add(set)
		if _, err := s.item(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if want := [...]int{1, 2, 2, 2, 3}[n]; reads != want {
			t.Errorf("step %d: %d reads, want %d", n, reads, want)
		}
	}
}
