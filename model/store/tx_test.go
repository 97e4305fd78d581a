package store

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gorm.io/gorm"

	"seckill/model"
)

func TestALockOfAnotherProcessIsWaitedOut(t *testing.T) {
	t.Parallel()
	dsn := onSQLite.create(t)
	s, other := openAt(t, dsn, Options{}), openAt(t, dsn, Options{})
	item := createItem(t, s)
	// SQLite waits 5 s for the lock by itself; without that patience the transaction is thrown back and run again.
	exec(t, s, "PRAGMA busy_timeout = 0")
	held := other.writer.Begin()
	if held.Error != nil {
		t.Fatal(held.Error)
	}
	thrown := 0
	err := s.retry(context.Background(), s.dialect.undone, func() error {
		err := s.transact(context.Background(), func(tx *gorm.DB) error {
			return updateGate(tx, item.ID, changes{"paused": true})
		})
		if err != nil {
			if thrown++; thrown == 2 {
				held.Rollback()
			}
		}
		return err
	})
	if after := getItem(t, s, item.ID); err != nil || thrown != 2 || !after.Paused || after.Version != 2 {
		t.Errorf("thrown back %d times, %v, item %+v", thrown, err, after)
	}
}

func TestRetriesAreBounded(t *testing.T) {
	t.Parallel()
	s := onSQLite.open(t, Options{})
	broken := errors.New("broken")
	for _, c := range []struct {
		again bool
		want  int
	}{{true, attempts}, {false, 1}} {
		calls := 0
		err := s.retry(context.Background(), func(error) bool { return c.again }, func() error { calls++; return broken })
		if err != broken || calls != c.want {
			t.Errorf("again %v: %d calls, %v", c.again, calls, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	_ = s.retry(ctx, func(error) bool { return true }, func() error { calls++; cancel(); return broken })
	if calls != 1 {
		t.Errorf("%d calls after the context ended", calls)
	}
}

func TestASlowServerIsNotAskedForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(*testing.T) {
		s := &Store{log: slog.New(slog.DiscardHandler)}
		calls := 0
		_ = s.retry(context.Background(), func(error) bool { return true }, func() error {
			calls++
			time.Sleep(patience * 2 / 3)
			return errors.New("no answer")
		})
		if calls != 2 {
			t.Errorf("%d calls", calls)
		}
	})
}

func TestACommitWithoutAnswerIsRunAgainOnlyWhereRepeatable(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := onSQLite.open(t, Options{})
	item := createItem(t, s)
	// The transaction happens, and its answer is lost: the first COMMIT finds that it has been done already.
	lose := func(runs *int) func(tx *gorm.DB) error {
		return func(tx *gorm.DB) error {
			if err := tx.Exec("UPDATE items SET version = version + 1").Error; err != nil {
				return err
			}
			if *runs++; *runs == 1 {
				return tx.Exec("COMMIT").Error
			}
			return nil
		}
	}
	runs := 0
	if err := s.write(ctx, lose(&runs)); err == nil || runs != 1 {
		t.Errorf("write: %d runs, %v", runs, err)
	}
	runs = 0
	if err := s.writeRepeatable(ctx, lose(&runs)); err != nil || runs != 2 {
		t.Errorf("repeatable: %d runs, %v", runs, err)
	}
	if after := getItem(t, s, item.ID); after.Version != 4 {
		t.Errorf("version %d", after.Version)
	}
}

func TestAWriteEndsWhileAnotherHoldsTheDatabase(t *testing.T) {
	t.Parallel()
	dsn := onSQLite.create(t)
	s, other := openAt(t, dsn, Options{}), openAt(t, dsn, Options{})
	item := createItem(t, s)
	began := time.Now()
	err := other.transact(context.Background(), func(*gorm.DB) error {
		_, err := s.SetPaused(context.Background(), item.ID, true, 2)
		return err
	})
	if took := time.Since(began); err == nil || took > 2*writeTime {
		t.Errorf("%v after %v", err, took)
	}
	if _, err := s.SetPaused(context.Background(), item.ID, true, 2); err != nil {
		t.Errorf("after that: %v", err)
	}
}

func TestAPanicRollsBack(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		func() {
			defer func() { _ = recover() }()
			_ = s.write(context.Background(), func(tx *gorm.DB) error {
				if err := updateGate(tx, item.ID, changes{"paused": true}); err != nil {
					t.Error(err)
				}
				panic("in the middle")
			})
		}()
		if _, err := s.SetPaused(context.Background(), item.ID, false, 2); err != nil || getItem(t, s, item.ID) != item {
			t.Errorf("after a panic: %v", err)
		}
	})
}

func TestReadersNeverSeeALock(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 1000 })
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range 2 * readers {
			wg.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					ledgers, err := s.Ledgers(ctx, item.ID)
					if err != nil || ledgers[0].Stock != ledgers[0].Available+ledgers[0].Pending {
						t.Errorf("%+v, %v", ledgers, err)
						return
					}
				}
			})
		}
		for n := int64(0); n < 20; n++ {
			var batch []model.Entry
			for k := range int64(10) {
				seq := 1 + n*10 + k
				batch = append(batch, entry(seq, model.ID(seq).String(), 1))
			}
			decide(t, s, item.ID, batch...)
		}
		close(done)
		wg.Wait()
	})
}

func TestNothingIsWrittenWhenOpenedToLook(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		dsn := db.create(t)
		item := createItem(t, openAt(t, dsn, Options{}))
		look := openAt(t, dsn, Options{ReadOnly: true})
		if got := getItem(t, look, item.ID); got != item {
			t.Errorf("%+v", got)
		}
		_, closed := look.CloseItem(ctx, item.ID, 1)
		_, decided := look.Decide(ctx, item.ID, 1, []model.Entry{entry(1, "a", 1)})
		refusals := []error{closed, decided}
		if look.dialect.journal {
			refusals = append(refusals, look.AppendJournal(ctx, item.ID, 1, [][]byte{{1}}))
		}
		for _, err := range refusals {
			if !errors.Is(err, errReadOnly) {
				t.Errorf("written: %v", err)
			}
		}
	})
}
