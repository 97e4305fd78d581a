package queue_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue/queuetest"
	"seckill/model/store"
)

func TestLocalOnSQLite(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T, opt queuetest.Options) *queuetest.Backend {
		s := openStore(t)
		return backend(s, judge{s}, opt)
	})
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite://"+filepath.Join(t.TempDir(), "seckill.db"), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// judge is the real one.
type judge struct{ store *store.Store }

func (j judge) Create(ctx context.Context, item model.Item) (model.Item, error) {
	return j.store.CreateItem(ctx, item)
}

func (j judge) Decide(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) ([]model.Verdict, model.Item, error) {
	o, err := j.store.Decide(ctx, item, epoch, entries)
	return o.Verdicts, o.Item, err
}
