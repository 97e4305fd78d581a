package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"seckill/model"
	"seckill/model/store/mariadbtest"
)

// throughProxy is a store whose every connection goes through a proxy, and one on the same database that needs none.
func throughProxy(t *testing.T) (cut, whole *Store, p *proxy) {
	t.Helper()
	server := mariaDB.Server(t)
	p = newProxy(t, server)
	name := server.Database(t)
	return openAt(t, mariadbtest.DSN(p.Addr().String(), name), Options{}), openAt(t, server.DSN(name), Options{}), p
}

func wantClean(t *testing.T, s *Store) {
	t.Helper()
	for _, c := range mustAudit(t, s) {
		if !c.OK {
			t.Errorf("%s: %s", c.Promise, describe(c.Breaches))
		}
	}
}

// Every COMMIT in three is answered; of the others, each second happens and each second does not.
func TestCommitsWithoutAnAnswerMakeOneOrderEach(t *testing.T) {
	t.Parallel()
	s, whole, p := throughProxy(t)
	const batches, size = 30, 20
	item := createItem(t, whole, func(i *model.Item) { i.Stock = batches * size * 3 / 4 })
	var commits, happened, lost atomic.Int64
	p.set(func(statement string) fault {
		if statement != "COMMIT" {
			return pass
		}
		switch commits.Add(1) % 3 {
		case 1:
			happened.Add(1)
			return loseAnswer
		case 2:
			lost.Add(1)
			return lose
		}
		return pass
	})
	told := map[int64]model.Verdict{}
	for n := range batches {
		var entries []model.Entry
		for k := range size {
			seq := int64(n*size + k + 1)
			entries = append(entries, entry(seq, fmt.Sprint("buyer", seq%500), 1))
		}
		for k, v := range decide(t, s, item.ID, entries...).Verdicts {
			told[entries[k].Seq] = v
		}
	}
	if happened.Load() < batches || lost.Load() < batches {
		t.Errorf("%d answers and %d COMMITs were lost", happened.Load(), lost.Load())
	}
	wantTold(t, whole, item.ID, told)
}

// wantTold holds what was told against SQL: one order for each winner, and nothing else.
func wantTold(t *testing.T, s *Store, item model.ID, told map[int64]model.Verdict) {
	t.Helper()
	ctx := context.Background()
	decided := map[int64]model.Verdict{}
	err := s.LoadDecisions(ctx, item, func(d model.Decision) error {
		for _, ticket := range d.Tickets {
			if decided[ticket.Seq] != 0 {
				t.Errorf("number %d was decided twice", ticket.Seq)
			}
			decided[ticket.Seq] = ticket.Verdict
		}
		return nil
	})
	if err != nil || !maps.Equal(decided, told) {
		t.Errorf("%d decided, %d told, not the same; %v", len(decided), len(told), err)
	}
	won := 0
	for _, v := range told {
		if v == model.Won {
			won++
		}
	}
	if n := count(t, s, "orders"); n != won || won == 0 {
		t.Errorf("%d orders of %d winners", n, won)
	}
	wantClean(t, s)
}

// A connection that breaks at any statement of a transaction, on either way, changes nothing of what comes of it.
func TestALostConnectionAtAnyStatementIsSurvived(t *testing.T) {
	t.Parallel()
	s, whole, p := throughProxy(t)
	told := 0
	for _, how := range []fault{lose, loseAnswer} {
		item := createItem(t, whole, func(i *model.Item) { i.Stock = 100 })
		for at := int64(1); ; at++ {
			var statements atomic.Int64
			p.set(func(string) fault {
				if statements.Add(1) == at {
					return how
				}
				return pass
			})
			wantVerdicts(t, decide(t, s, item.ID, entry(2*at-1, fmt.Sprint("b", at), 1), entry(2*at, fmt.Sprint("b", at), 1)),
				model.Won, model.Duplicate)
			told++
			if statements.Load() < at {
				if at < 10 {
					t.Errorf("a decision has only %d statements", at)
				}
				break
			}
		}
	}
	if n := count(t, whole, "orders"); n != told {
		t.Errorf("%d orders of %d winners", n, told)
	}
	wantClean(t, whole)
}

// What can not find out by itself whether it has happened is run again only where it certainly has not.
func TestAnUnknownCommitIsNotRepeatedBlindly(t *testing.T) {
	t.Parallel()
	s, whole, p := throughProxy(t)
	item := createItem(t, whole)
	var once sync.Once
	cutOnce := func(at string, how fault) {
		once = sync.Once{}
		p.set(func(statement string) (f fault) {
			if statement == at {
				once.Do(func() { f = how })
			}
			return f
		})
	}
	cutOnce("COMMIT", loseAnswer)
	_, err := s.AdjustStock(context.Background(), item.ID, 1, "found")
	if after := getItem(t, whole, item.ID); err == nil || after.Stock != 11 {
		t.Errorf("stock %d, %v", after.Stock, err)
	}
	cutOnce("START TRANSACTION", loseAnswer)
	if after, err := s.AdjustStock(context.Background(), item.ID, 1, "found"); err != nil || after.Stock != 12 {
		t.Errorf("stock %d, %v", after.Stock, err)
	}
}

// Two sellers decide the same batches while the server is killed under them, again and again.
func TestAKilledServerDecidesEachTicketOnce(t *testing.T) {
	t.Parallel()
	server := mariadbtest.Start(t, "--innodb-flush-log-at-trx-commit=1")
	dsn := server.DSN(server.Database(t))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	const kills, size = 4, 40
	setup := openAt(t, dsn, Options{})
	item := createItem(t, setup, func(i *model.Item) { i.Stock = 2_000 })
	var over atomic.Bool
	committed := make(chan struct{})
	var sellers sync.WaitGroup
	told := [2]map[int64]model.Verdict{{}, {}}
	for _, verdicts := range told {
		s := openAt(t, dsn, Options{})
		sellers.Go(func() {
			for first := int64(1); !over.Load() && ctx.Err() == nil; {
				if err := sellThrough(ctx, s, item.ID, first, size, verdicts); err != nil {
					time.Sleep(10 * time.Millisecond) // the server is gone or coming back
					continue
				}
				first += size
				select {
				case committed <- struct{}{}:
				default:
				}
			}
		})
	}
	for range kills {
		for range 5 {
			select {
			case <-committed:
			case <-ctx.Done():
				t.Fatal("no batch goes through")
			}
		}
		server.Kill()
		server.Restart(t)
	}
	over.Store(true)
	sellers.Wait()
	for seq, v := range told[0] {
		if other, both := told[1][seq]; both && other != v {
			t.Errorf("number %d was told %s and %s", seq, v, other)
		}
	}
	maps.Copy(told[0], told[1])
	wantTold(t, setup, item.ID, told[0])
}

// sellThrough decides the numbers from first on and notes what each is told.
func sellThrough(ctx context.Context, s *Store, item model.ID, first int64, size int, told map[int64]model.Verdict) error {
	var entries []model.Entry
	for seq := first; seq < first+int64(size); seq++ {
		entries = append(entries, entry(seq, fmt.Sprint("buyer", seq/2), 1))
	}
	out, err := s.Decide(ctx, item, 1, entries)
	if err != nil {
		return err
	}
	for n, v := range out.Verdicts {
		told[entries[n].Seq] = v
	}
	return nil
}

func TestADeadlockIsRunAgain(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	a, b := createItem(t, s), createItem(t, s)
	// Each has locked its first item before either asks for its second.
	var locked, sides sync.WaitGroup
	locked.Add(2)
	var runs atomic.Int64
	for _, order := range [][2]model.ID{{a.ID, b.ID}, {b.ID, a.ID}} {
		sides.Go(func() {
			first := true
			err := s.write(context.Background(), func(tx *gorm.DB) error {
				runs.Add(1)
				for _, id := range order {
					if _, err := lockItem(tx, id); err != nil {
						return err
					}
					if err := updateGate(tx, id, changes{}); err != nil {
						return err
					}
					if first {
						first = false
						locked.Done()
						locked.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	sides.Wait()
	for _, id := range []model.ID{a.ID, b.ID} {
		if after := getItem(t, s, id); after.Version != 3 {
			t.Errorf("version %d", after.Version)
		}
	}
	if runs.Load() < 3 {
		t.Errorf("%d runs: there was no deadlock", runs.Load())
	}
}

func TestALockWaitIsRunAgain(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	item := createItem(t, s)
	held := s.writer.Begin()
	defer held.Rollback()
	if _, err := lockItem(held, item.ID); err != nil {
		t.Fatal(err)
	}
	runs := 0
	err := s.write(context.Background(), func(tx *gorm.DB) error {
		if runs++; runs == 2 {
			held.Rollback()
		}
		// A lock wait takes back its own statement only; what came before it must go too.
		if err := tx.Exec("INSERT INTO stock_changes VALUES (?, 1, 1, '', 1)", runs).Error; err != nil {
			return err
		}
		if err := tx.Exec("SET innodb_lock_wait_timeout = 1").Error; err != nil {
			return err
		}
		if _, err := lockItem(tx, item.ID); err != nil {
			return err
		}
		return updateGate(tx, item.ID, changes{})
	})
	if after := getItem(t, s, item.ID); err != nil || runs != 2 || after.Version != 2 || count(t, s, "stock_changes") != 1 {
		t.Errorf("%d runs, version %d, %d changes, %v", runs, after.Version, count(t, s, "stock_changes"), err)
	}
}

// A row that has changed since the snapshot is refused where the server is told to; no transaction of the store meets
// that, because none has a snapshot. One that had would be run again.
func TestAChangedRecordIsRunAgain(t *testing.T) {
	t.Parallel()
	s := onServer("", isolatedMariaDB).open(t, Options{})
	item := createItem(t, s)
	runs := 0
	var first error
	err := s.retry(context.Background(), s.dialect.undone, func() error {
		runs++
		err := s.writer.Transaction(func(tx *gorm.DB) error {
			if _, err := takeItem(tx, item.ID); err != nil {
				return err
			}
			if runs == 1 {
				if err := updateGate(s.writer, item.ID, changes{}); err != nil {
					return err
				}
			}
			_, err := lockItem(tx, item.ID)
			return err
		}, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
		if runs == 1 {
			first = err
		}
		return err
	})
	if err != nil || runs != 2 || !isMySQL(first, 1020) {
		t.Errorf("%d runs, first %v, then %v", runs, first, err)
	}
}

// A process that freezes with an item locked loses the lock, and learns so when it wakes. Whoever waits for the item, a
// seller or an admin, gets it.
func TestAFrozenWriterLosesItsLock(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(s *Store, item model.ID) error{
		"seller": func(s *Store, item model.ID) error {
			_, err := s.Decide(context.Background(), item, 1, []model.Entry{entry(1, "a", 1)})
			return err
		},
		"admin": func(s *Store, item model.ID) error {
			_, err := s.AdjustStock(context.Background(), item, 1, "found")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := onMariaDB.create(t)
			s, frozen := openAt(t, dsn, Options{}), openAt(t, dsn, Options{})
			item := createItem(t, s)
			held := frozen.writer.Begin()
			if _, err := lockItem(held, item.ID); err != nil {
				t.Fatal(err)
			}
			if err := updateGate(held, item.ID, changes{"title": "Coffee"}); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if err := wait(s, item.ID); err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(start); waited < idleWriter/2 || waited > 2*writeTime {
				t.Errorf("waited %s", waited)
			}
			if err := held.Commit().Error; !frozen.dialect.lost(err) {
				t.Errorf("commit after the freeze: %v", err)
			}
			wantVerdicts(t, decide(t, frozen, item.ID, entry(1, "a", 1)), model.Won)
			if after := getItem(t, s, item.ID); after.Title != item.Title || count(t, s, "orders") != 1 {
				t.Errorf("%+v", after)
			}
		})
	}
}

// A store that nobody wrote to for a while does not meet connections that the server has ended.
func TestAStoreThatWasIdleWritesAtOnce(t *testing.T) {
	t.Parallel()
	var again bytes.Buffer
	s := onMariaDB.open(t, Options{Log: slog.New(slog.NewTextHandler(&again, nil))})
	item := createItem(t, s)
	time.Sleep(idleWriter + 500*time.Millisecond) // the server's patience ends
	decide(t, s, item.ID, entry(1, "a", 1))
	if again.Len() > 0 {
		t.Error(again.String())
	}
}

func TestAFrozenServerIsNotWaitedForBeyondTheContext(t *testing.T) {
	t.Parallel()
	server := mariadbtest.Start(t)
	s := openAt(t, server.DSN(server.Database(t)), Options{})
	item := createItem(t, s)
	decide(t, s, item.ID, entry(1, "a", 1))
	server.Freeze()
	for _, ask := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := s.Decide(ctx, item.ID, 1, []model.Entry{entry(2, "b", 1)})
			return err
		},
		func(ctx context.Context) error { _, err := s.Item(ctx, item.ID); return err },
		s.Ping,
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		start := time.Now()
		err := ask(ctx)
		cancel()
		if waited := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || waited > 5*time.Second {
			t.Errorf("after %s: %v", waited, err)
		}
	}
	server.Thaw()
	wantVerdicts(t, decide(t, s, item.ID, entry(2, "b", 1), entry(3, "b", 1)), model.Won, model.Duplicate)
}

// Whoever starts, or only looks, beside a frozen server is told soon.
func TestAFrozenServerIsNotOpened(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections, as a frozen process does, and never greets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for _, readOnly := range []bool{false, true} {
		t.Run(fmt.Sprintf("read only %t", readOnly), func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := Open(context.Background(), "mysql://user:pass@"+silent.Addr().String()+"/name", Options{ReadOnly: readOnly})
			if waited := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || waited > openTime+5*time.Second {
				t.Errorf("after %s: %v", waited, err)
			}
		})
	}
}

// Four processes with all their connections at work leave room on a small server.
func TestAServerIsSharedWithRoomLeft(t *testing.T) {
	t.Parallel()
	server := mariadbtest.Start(t, fmt.Sprintf("--max-connections=%d", roomLeft+4*sharers))
	dsn := server.DSN(server.Database(t))
	var all sync.WaitGroup
	for range sharers {
		s := openAt(t, dsn, Options{})
		item := createItem(t, s)
		for k := range 30 {
			all.Go(func() {
				if _, err := s.AdjustStock(context.Background(), item.ID, 1, ""); err != nil {
					t.Error(err)
				}
				if _, err := s.Ledgers(context.Background(), item.ID); err != nil {
					t.Error(k, err)
				}
			})
		}
	}
	all.Wait()
	server.Exec(t, "SELECT 1")
}

func TestShareConnections(t *testing.T) {
	t.Parallel()
	for most, want := range map[int][2]int{1: {2, 2}, 26: {2, 2}, 151: {11, 24}, 500: {21, 43}, 100_000: {21, 43}} {
		writers, readers := shareConnections(most)
		if got := [2]int{writers, readers}; !slices.Equal(got[:], want[:]) {
			t.Errorf("of %d: %v, want %v", most, got, want)
		}
	}
}
