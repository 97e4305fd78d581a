package worker

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

// swept runs one sweep by sellers that end with the test.
func swept(s *shop, sellers *Sellers) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	s.t.Cleanup(func() { cancel(); sellers.working.Wait() })
	s.must(sellers.runOnce(ctx))
}

// Sellers without tickets, and one whose item is paused, do nothing.
func TestIdleCostsNothingButTheSweep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openShop(t)
		defer s.close()
		for range 19 {
			s.publish(1)
		}
		held := s.publish(1)
		s.click(held, "ann")
		paused, err := s.store.SetPaused(t.Context(), held.ID, true, model.InstantOf(s.now()))
		s.must(err)
		s.must(s.queue.Mirror(t.Context(), paused))
		q := &spy{Queue: s.queue}
		stop := s.run(s.sellers(q))
		synctest.Wait()
		if n := s.count("seckill_sellers"); n != 20 {
			t.Errorf("%v sellers, want 20", n)
		}
		peeks, sweeps := q.peeks.Load(), q.sweeps.Load()
		time.Sleep(time.Minute)
		synctest.Wait()
		stop()
		if n := q.peeks.Load() - peeks; n != 0 {
			t.Errorf("idle sellers peeked %d times", n)
		}
		if n := q.sweeps.Load() - sweeps; n < 59 || n > 61 {
			t.Errorf("%d sweeps in a minute", n)
		}
	})
}

// With a sweep an hour, only the queue's messages can wake a seller.
func TestAPublishedItemIsSoldAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openShop(t)
		defer s.close()
		sellers := s.sellers(s.queue)
		sellers.sweep = time.Hour
		stop := s.run(sellers)
		synctest.Wait()
		start := time.Now()
		for range 3 {
			item, wait := s.publish(1), s.told()
			s.click(item, "ann")
			wait(1)
			s.mustBeDecided(item, 1, 1)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
		stop()
	})
}

// deaf is a queue whose messages are lost.
type deaf struct{ queue.Queue }

func (deaf) Subscribe(ctx context.Context) <-chan queue.Message {
	c := make(chan queue.Message)
	context.AfterFunc(ctx, func() { close(c) })
	return c
}

func TestTheSweepWakesWhenMessagesAreLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openShop(t)
		defer s.close()
		stop := s.run(s.sellers(deaf{s.queue}))
		synctest.Wait()
		start := time.Now()
		item, wait := s.publish(1), s.told()
		s.click(item, "ann")
		wait(1)
		if took := time.Since(start); took > time.Second {
			t.Errorf("took %v", took)
		}
		stop()
		s.mustBeDecided(item, 1, 1)
	})
}

func TestSweepInstallsWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.create(1)
	if p := s.progress(item); p.Epoch != 0 {
		t.Fatal("installed already")
	}
	swept(s, s.sellers(s.queue))
	s.click(item, "ann")
}

func TestSweepMirrorsWhatIsBehind(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.publish(1)
	_, err := s.store.SetPaused(t.Context(), item.ID, true, model.InstantOf(s.now()))
	s.must(err)
	swept(s, s.sellers(s.queue))
	_, err = s.queue.Join(t.Context(), item.ID, queue.Click{Buyer: "ann", Quantity: 1})
	if !errors.Is(err, model.ErrPaused) {
		t.Errorf("error %v, want paused", err)
	}
}

// What is over and decided needs no seller, and a day later no queue.
func TestWhatIsOverIsClearedAway(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.create(1, func(i *model.Item) { i.EndsAt = i.StartsAt.Add(time.Hour) })
	sellers := s.sellers(s.queue)
	step := func(ahead time.Duration, running, installed bool) {
		t.Helper()
		s.ahead.Store(int64(ahead))
		swept(s, sellers)
		if got := sellers.running[item.ID] != nil; got != running {
			t.Errorf("%v on: a seller is %v, want %v", ahead, got, running)
		}
		if got := s.progress(item).Epoch != 0; got != installed {
			t.Errorf("%v on: installed is %v, want %v", ahead, got, installed)
		}
	}
	step(time.Minute, true, true)
	step(2*time.Hour, false, true)
	step(24*time.Hour+59*time.Minute, false, true)
	step(25*time.Hour+time.Minute, false, false)
	if sellers.known[item.ID] {
		t.Error("still known")
	}
}

// Tickets that were accepted before the end are decided after it, however long after.
func TestTicketsOutlastTheEnd(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	item := s.create(1, func(i *model.Item) { i.EndsAt = i.StartsAt.Add(time.Hour) })
	s.must(s.queue.Install(t.Context(), item))
	s.click(item, "ann")
	s.ahead.Store(int64(48 * time.Hour))
	wait := s.told()
	swept(s, s.sellers(s.queue))
	wait(1)
	s.mustBeDecided(item, 1, 1)
}

func TestASweepThatPanicsIsAFailure(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	defer s.close()
	sellers := s.sellers(broken{s.queue})
	if err := sellers.runOnce(t.Context()); err == nil {
		t.Error("no error")
	}
	if n := s.count("seckill_seller_panics_total"); n != 1 {
		t.Errorf("%v panics counted, want 1", n)
	}
}

// broken is a queue with a bug.
type broken struct{ queue.Queue }

func (broken) Now(context.Context) (model.Instant, error) { panic("bug") }

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	t.Parallel()
	var b backoff
	loud := 0
	for n := range 21 {
		b.fail()
		most := min(backoffMost, backoffLeast<<min(n, 10))
		if wait := b.wait(); wait < max(backoffLeast, most/2) || wait > most {
			t.Errorf("failure %d: wait %v, want up to %v", n+1, wait, most)
		}
		if b.loud() {
			loud++
		}
	}
	if loud != 3 {
		t.Errorf("%d of 21 failures were loud, want 3", loud)
	}
}
