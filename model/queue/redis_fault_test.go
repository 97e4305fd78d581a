package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
)

func TestScriptsThatAreFlushedAreSentAgain(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1000)
	flusher := s.server.Client(0)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := flusher.ScriptFlush(ctx).Err(); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	items := make([]model.ID, 450) // pipelines of several scripts, each with its own answer
	for n := range items {
		items[n] = s.item
	}
	for n := range 40 {
		s.crowd(fmt.Sprint("crowd ", n), 5)
		progress, err := s.queue.Progress(ctx, items...)
		must(t, err)
		for _, p := range progress {
			if p.Queued != 5 {
				t.Fatalf("%+v", p)
			}
		}
		must(t, s.queue.Mirror(ctx, s.row(), s.row()))
		s.sell()
	}
	stop()
	wg.Wait()
	if p := s.progress(); p.Served != 200 || p.Available != 800 {
		t.Errorf("%+v", p)
	}
}

func TestAFrozenRedisTakesInNobodyWhoWasAnswered(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	s.join("ann")
	s.server.Freeze()
	var wg sync.WaitGroup
	for n := range 300 {
		wg.Go(func() {
			start := time.Now()
			_, err := s.queue.Join(t.Context(), s.item, queue.Click{Buyer: model.Buyer(fmt.Sprint("frozen ", n)), Quantity: 1})
			if !errors.Is(err, model.ErrUnavailable) || time.Since(start) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	}
	wg.Wait()
	_, err := s.queue.Peek(t.Context(), s.item, 1)
	if !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("peek: %v", err)
	}
	s.server.Thaw()
	if bob := s.join("bob"); bob.Seq != 2 {
		t.Errorf("bob's number is %d: somebody who was answered is in line", bob.Seq)
	}
}

func TestACallWithoutAReplyIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	proxy := redistest.NewProxy(t, s.server.Address())
	q, err := queue.OpenRedis(s.judge, queue.RedisOptions{URL: "redis://" + proxy.Address() + "/0"})
	must(t, err)
	defer func() { must(t, q.Close()) }()
	calls := func() (n int) {
		t.Helper()
		stats, _ := s.server.Do("INFO", "commandstats").(string)
		_, after, _ := strings.Cut(stats, "cmdstat_evalsha:calls=")
		_, err := fmt.Sscanf(after, "%d", &n)
		must(t, err)
		return n
	}
	join := func(buyer model.Buyer) (queue.Answer, error) {
		return q.Join(t.Context(), s.item, queue.Click{Buyer: buyer, Quantity: 1})
	}
	_, err = join("ann") // the connection stands, and the clock is known
	must(t, err)
	before := calls()
	proxy.CutReplies("evalsha")
	if a, err := join("bob"); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("%+v, %v", a, err)
	}
	if n := calls() - before; n != 1 {
		t.Errorf("sent %d times", n)
	}
	proxy.CutReplies("")
	if a, err := join("bob"); err != nil || a.Ticket.Seq != 2 {
		t.Errorf("asked again: %+v, %v", a, err)
	}
}

func TestRedisComesBackByItself(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100, "--appendonly", "yes", "--appendfsync", "always")
	messages := s.queue.Subscribe(t.Context())
	early := s.crowd("early", 10)
	s.server.Kill()
	start := time.Now()
	s.refused(model.ErrUnavailable)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("an outage was told after %v", took)
	}
	s.server.Restart()
	start = time.Now()
	var err error
	for time.Since(start) < 5*time.Second {
		if err = s.queue.Install(t.Context(), s.row()); err == nil {
			break
		}
	}
	must(t, err)
	s.join("late")
	s.next(messages, queue.Missed)
	for _, ticket := range early {
		if p := s.look(ticket); p.State != queue.Queued {
			t.Errorf("%+v", p)
		}
	}
	told := s.sell()
	if len(told) != 11 {
		t.Errorf("%d told", len(told))
	}
}

func TestAFullRedisDrains(t *testing.T) {
	t.Parallel()
	s := openStall(t, 3)
	s.crowd("in line", 20)
	s.server.Do("CONFIG", "SET", "maxmemory", "1")
	s.refused(model.ErrUnavailable)
	if again := s.join("in line 0"); again.Seq != 1 {
		t.Errorf("a queued buyer's ticket: %+v", again)
	}
	told := s.sell()
	if p := s.progress(); len(told) != 20 || p.Queued != 0 || p.Available != 0 {
		t.Errorf("%d told, %+v", len(told), p)
	}
	must(t, s.queue.Unmark(t.Context(), model.Ticket{Item: s.item, Epoch: s.row().Epoch, Seq: 1, Quantity: 1, Buyer: "in line 0"}))
	row := s.row()
	row.Version, row.Available = row.Version+1, 7
	must(t, s.queue.Mirror(t.Context(), row))
	_, err := s.queue.Beat(t.Context(), "one")
	must(t, err)
	if p := s.progress(); p.Available != 7 {
		t.Errorf("%+v", p)
	}
	s.server.Do("HDEL", s.key("meta"), "life")
	s.install()
	s.server.Do("CONFIG", "SET", "maxmemory", "0")
	s.refused(model.ErrSoldOut)
}

func TestKilledSubscriptionsAreMissed(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1000)
	messages := s.queue.Subscribe(t.Context())
	for n := range 3 {
		s.server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		s.next(messages, queue.Missed)
		s.join(model.Buyer(fmt.Sprint(n)))
		if m := s.next(messages, queue.Woken); m.Progress.Queued != 1 {
			t.Errorf("%+v", m)
		}
		s.sell()
	}
}

func TestSoldOutIsForgottenWhenTheGateChanges(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	elsewhere := s.another()
	s.join("ann")
	messages := s.queue.Subscribe(t.Context())
	s.sell()
	s.refused(model.ErrSoldOut)
	if a, err := s.queue.Join(t.Context(), s.item, queue.Click{Buyer: "ann", Quantity: 1}); err != nil || !a.Marked {
		t.Errorf("the winner: %+v, %v", a, err)
	}
	row := s.row()
	row.Version, row.Available = row.Version+1, 1
	must(t, elsewhere.Mirror(t.Context(), row))
	s.next(messages, queue.Changed)
	s.join("bob")
}

func TestNumbersBeyondWhatLuaPrints(t *testing.T) {
	t.Parallel()
	s := openStall(t, 5)
	s.server.Do("HSET", s.key("meta"), "seq", "100000000000000", "served", "100000000000000")
	ticket := s.join("ann")
	if ticket.Seq != 100_000_000_000_001 || s.look(ticket).State != queue.Queued || s.sell()[ticket] != model.Won ||
		s.look(ticket).Verdict != model.Won || s.progress().Served != ticket.Seq {
		t.Errorf("%+v, %+v", ticket, s.progress())
	}
}

func TestBeatTellsWhoLives(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	beat := func(instance string, want ...string) {
		t.Helper()
		got, err := s.queue.Beat(t.Context(), instance)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	beat("one", "one")
	beat("two", "one", "two")
	now, err := s.queue.Now(t.Context())
	must(t, err)
	s.server.Do("ZADD", "seckill:workers", int64(now)-4500, "one")
	beat("two", "two")
	beat("one", "one", "two")
	must(t, s.queue.Leave(t.Context(), "two"))
	beat("one", "one")
}

func TestCheckRefusesAServerThatWillNotDo(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	warnings, err := s.queue.Check(t.Context())
	if err != nil || len(warnings) != 1 {
		t.Errorf("%v, %v; want one warning: no append-only file", warnings, err)
	}
	s.server.Do("CONFIG", "SET", "appendonly", "yes")
	if warnings, err := s.queue.Check(t.Context()); err != nil || len(warnings) != 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	s.server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	if _, err := s.queue.Check(t.Context()); err == nil || errors.Is(err, model.ErrUnavailable) {
		t.Errorf("eviction: %v", err)
	}
	s.server.Kill()
	if _, err := s.queue.Check(t.Context()); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("away: %v", err)
	}
}
