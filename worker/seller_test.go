package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(100)
	wait := s.told()
	s.crowd(item, 2000)
	stop := s.run(s.sellers(s.queue))
	wait(2000)
	stop()
	s.mustBeDecided(item, 2000, 100)
	if n := s.count("seckill_decisions_total"); n != 2000 {
		t.Errorf("%v decisions counted, want 2000", n)
	}
}

func TestTwoOwnersOfOneItemAreAsOne(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(500)
	wait := s.told()
	stop1, stop2 := s.run(s.sellers(s.queue)), s.run(s.sellers(s.queue))
	tickets := s.crowd(item, 2000)
	wait(tickets)
	stop1()
	stop2()
	s.mustBeDecided(item, tickets, 500)
}

func TestPauseWaitsAndResumeDecides(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(1)
	s.click(item, "ann")
	now := model.InstantOf(s.now())
	paused, err := s.store.SetPaused(t.Context(), item.ID, true, now)
	s.must(err)
	s.must(s.queue.Mirror(t.Context(), paused))
	sellers := s.sellers(s.queue)
	s.must(sellers.newSeller(item.ID).runOnce(t.Context()))
	if p := s.progress(item); p.Queued != 1 {
		t.Fatalf("decided while paused: %+v", p)
	}
	wait := s.told()
	stop := s.run(sellers)
	resumed, err := s.store.SetPaused(t.Context(), item.ID, false, now)
	s.must(err)
	s.must(s.queue.Mirror(t.Context(), resumed))
	wait(1)
	stop()
	s.mustBeDecided(item, 1, 1)
}

func TestCloseEndsThoseInLine(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(5)
	for b := range 3 {
		s.click(item, fmt.Sprint("buyer", b))
	}
	_, err := s.store.CloseItem(t.Context(), item.ID, model.InstantOf(s.now()))
	s.must(err)
	s.must(s.sellers(s.queue).newSeller(item.ID).runOnce(t.Context()))
	if got := s.decisions(item); !slices.Equal(got, []model.Verdict{model.Ended, model.Ended, model.Ended}) {
		t.Errorf("verdicts %v", got)
	}
	if n := len(s.orders(item)); n != 0 {
		t.Errorf("%d orders", n)
	}
}

func TestPoisonIsSetAsideAloneAndSeen(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.create(5)
	line := func(seq int64, buyer model.Buyer) []byte {
		return queue.EncodeEntry(model.Entry{Epoch: 1, Seq: seq, At: model.InstantOf(s.now()), Quantity: 1, Buyer: buyer})
	}
	s.must(s.store.AppendJournal(t.Context(), item.ID, 1, [][]byte{line(1, "ann"), []byte("garbage"), line(3, "bob")}))
	s.must(s.queue.Install(t.Context(), item))
	s.must(s.sellers(s.queue).newSeller(item.ID).runOnce(t.Context()))
	if got := s.decisions(item); !slices.Equal(got, []model.Verdict{model.Won, model.Failed, model.Won}) {
		t.Errorf("verdicts %v", got)
	}
	row, err := s.store.Item(t.Context(), item.ID)
	s.must(err)
	if n := s.count("seckill_set_aside_total"); n != 1 || row.SetAside != 1 {
		t.Errorf("%v counted, %d in SQL, want 1 and 1", n, row.SetAside)
	}
	logged := strings.Join(s.log.all(), "\n")
	if !strings.Contains(logged, "ticket set aside seq=2 reason=") || !strings.Contains(logged, "garbage") {
		t.Errorf("the log does not name the ticket: %s", logged)
	}
}

// breaking makes decide fail n times by what fail does, and then do its work.
func breaking(n int64, decide decideFunc, fail func() error) decideFunc {
	var calls atomic.Int64
	return func(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) (store.Outcome, error) {
		if calls.Add(1) <= n {
			return store.Outcome{}, fail()
		}
		return decide(ctx, item, epoch, entries)
	}
}

func TestSellerGoesOnAfterFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail   func() error
		panics float64
		logged string
	}{
		"errors":        {func() error { return errors.New("disk is away") }, 0, "disk is away"},
		"another epoch": {func() error { return fmt.Errorf("decide: %w", store.ErrEpoch) }, 0, "another epoch"},
		"panics":        {func() error { panic("bug") }, 8, "stack=goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := openShop(t)
				defer s.close()
				item := s.publish(1)
				sellers := s.sellers(s.queue)
				sellers.decide = breaking(8, s.store.Decide, c.fail)
				wait, start := s.told(), time.Now()
				stop := s.run(sellers)
				s.click(item, "ann")
				wait(1)
				stop()
				// 8 waits of at most 50, 100, 200, 400, 800, 1600, 2000 and 2000 ms, of at least half that.
				if took := time.Since(start); took < 3500*time.Millisecond || took > 7150*time.Millisecond {
					t.Errorf("healed after %v", took)
				}
				s.mustBeDecided(item, 1, 1)
				if n := s.count("seckill_seller_panics_total"); n != c.panics {
					t.Errorf("%v panics counted, want %v", n, c.panics)
				}
				logged := strings.Join(s.log.all(), "\n")
				if !strings.Contains(logged, c.logged) || strings.Count(logged, "will try again") != 1 {
					t.Errorf("logged: %s", logged)
				}
			})
		})
	}
}

// A batch that was decided but never settled is decided again, to the same verdicts: by the same process, and by one
// that comes after a crash.
func TestDecidedButNotSettled(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"settle failed": false, "process died": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t)
			item := s.publish(3)
			s.crowd(item, 10)
			q := &spy{Queue: s.queue, settle: func(context.Context, queue.Settlement) error { return errors.New("gone") }}
			if err := s.sellers(q).newSeller(item.ID).runOnce(t.Context()); err == nil {
				t.Fatal("settle did not fail")
			}
			if n := len(s.decisions(item)); n != 10 {
				t.Fatalf("%d verdicts", n)
			}
			if restart {
				s.close()
				s.open()
			}
			defer s.close()
			sellers := s.sellers(s.queue)
			s.must(sellers.Adopt(t.Context()))
			s.must(sellers.newSeller(item.ID).runOnce(t.Context()))
			s.mustBeDecided(item, 10, 3)
		})
	}
}

// A process that dies before the commit leaves its tickets in the journal.
func TestQueuedButNotDecided(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	item := s.publish(3)
	s.crowd(item, 10)
	s.close()
	s.open()
	defer s.close()
	wait := s.told()
	stop := s.run(s.sellers(s.queue))
	wait(10)
	stop()
	s.mustBeDecided(item, 10, 3)
}

// Peeked comes after the peek, before the decision, once a batch, and the batch goes on under its context.
func TestPeekedComesBeforeTheDecision(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(1)
	s.click(item, "ann")
	ended, end := context.WithCancel(t.Context())
	end()
	calls, next := 0, ended
	sellers := New(Options{Store: s.store, Queue: s.queue, Log: s.logger(), Peeked: func(_ context.Context, id model.ID) context.Context {
		calls++
		if id != item.ID || len(s.decisions(item)) != 0 {
			t.Errorf("called for item %s with %d verdicts", id, len(s.decisions(item)))
		}
		return next
	}})
	if err := sellers.newSeller(item.ID).runOnce(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("decided under a context that has ended: %v", err)
	}
	next = t.Context()
	s.must(sellers.newSeller(item.ID).runOnce(t.Context()))
	if calls != 2 {
		t.Errorf("%d calls for 2 batches", calls)
	}
	s.mustBeDecided(item, 1, 1)
}

func TestStopFinishesTheBatchUnderWay(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(600)
	s.crowd(item, 600)
	sellers := s.sellers(s.queue)
	deciding, stopped := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(deciding) })
	sellers.decide = func(ctx context.Context, id model.ID, epoch int64, entries []model.Entry) (store.Outcome, error) {
		once()
		<-stopped
		return s.store.Decide(ctx, id, epoch, entries)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- sellers.Run(ctx) }()
	<-deciding
	cancel()
	close(stopped)
	s.must(<-done)
	if p := s.progress(item); p.Served != queue.MaxPeek || p.Queued != 600-queue.MaxPeek {
		t.Errorf("%+v, want one whole batch settled and no other begun", p)
	}
}
