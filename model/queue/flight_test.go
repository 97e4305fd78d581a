package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
)

// hung is a journal whose statements wait until their contexts end.
type hung struct{ Journal }

func (hung) AppendJournal(ctx context.Context, _ model.ID, _ int64, _ [][]byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hung) LoadJournal(ctx context.Context, _ model.ID) ([]model.EntryGroup, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestJournalThatHangsIsAnOutageInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal(hung{}, model.NewClock(time.Now), LocalOptions{})
		item := model.Item{ID: 1, Epoch: 1, Version: 1, Available: 1, StartsAt: 1}
		if err := l.put(newLocalItem(l, newState(item))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := l.Join(t.Context(), 1, Click{Buyer: "ann", Quantity: 1})
		if !errors.Is(err, model.ErrUnavailable) || time.Since(began) != insertTime+rereadTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
