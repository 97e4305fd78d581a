package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"seckill/model"
)

func TestNextEpochIsBegunOnceAndFencesTheOlder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx, s := context.Background(), db.open(t, Options{})
		item := createItem(t, s)
		if _, err := s.Decide(ctx, item.ID, 1, []model.Entry{entry(1, "ann", 1)}); err != nil {
			t.Fatal(err)
		}
		var begun atomic.Int64
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				row, ok, err := s.NextEpoch(ctx, item.ID, 1)
				if err != nil || row.Epoch != 2 || row.Decided != 1 || row.Available != 9 {
					t.Errorf("%+v, %v", row, err)
				}
				if ok {
					begun.Add(1)
				}
			})
		}
		wg.Wait()
		if n := begun.Load(); n != 1 {
			t.Errorf("begun %d times", n)
		}
		if _, err := s.Decide(ctx, item.ID, 1, []model.Entry{entry(2, "bob", 1)}); !errors.Is(err, ErrEpoch) {
			t.Errorf("a batch of the epoch before: %v", err)
		}
		if got, err := s.Item(ctx, item.ID); err != nil || got.Epoch != 2 || got.Version != 2 {
			t.Errorf("the row: %+v, %v", got, err)
		}
		if _, _, err := s.NextEpoch(ctx, 1, 1); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("an unknown item: %v", err)
		}
	})
}
