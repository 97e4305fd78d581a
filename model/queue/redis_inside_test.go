package queue

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"seckill/model"
	"seckill/model/queue/redistest"
)

func TestSoldOutIsRememberedForAMoment(t *testing.T) {
	t.Parallel()
	var s soldOut
	start := time.Now()
	s.meet("ann")
	s.remember(start)
	if !s.remembers("bob", start.Add(soldOutTime-1)) || s.remembers("bob", start.Add(soldOutTime)) {
		t.Error("not remembered for 200 ms from the start of the call")
	}
	if s.remembers("ann", start) {
		t.Error("not passed by for a buyer who was met")
	}
	s.clear()
	if s.remembers("bob", start) {
		t.Error("remembered after the gate has changed")
	}
	s.remember(start)
	if s.remembers("bob", start.Add(1)) {
		t.Error("a call from before the change was believed")
	}
	for n := range 2 * maxMet {
		s.meet(model.Buyer(fmt.Sprint(n)))
	}
	if len(s.young) > maxMet || len(s.old) > maxMet {
		t.Errorf("%d and %d buyers are remembered", len(s.young), len(s.old))
	}
}

func TestTheServersClockIsKnownForAWhile(t *testing.T) {
	t.Parallel()
	var c gateClock
	if _, ok := c.reached(time.Now(), clockAge); ok {
		t.Error("known before it was seen")
	}
	c.set(1000)
	if at, ok := c.reached(c.at.Add(1500*time.Millisecond), clockAge); !ok || at != 2500 {
		t.Errorf("%d, %v", at, ok)
	}
	if _, ok := c.reached(c.at.Add(clockAge), clockAge); ok {
		t.Error("an old time is believed")
	}
}

func TestCheckNamesAllThatIsWrong(t *testing.T) {
	t.Parallel()
	good := "role:master\r\nmaster_replid:abc\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\n"
	if warnings, err := checkInfo(good); err != nil || len(warnings) > 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	_, err := checkInfo("role:slave\r\nmaxmemory_policy:allkeys-lru\r\n")
	for _, word := range []string{"master_replid", "slave", "allkeys-lru"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v does not name %s", err, word)
		}
	}
}

func TestVerdictsComeBackAsTheyWent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var s Settlement
		var want []Told
		s.Batch.Item = 7
		for range rapid.IntRange(0, 5).Draw(rt, "entries") {
			e := model.Entry{Epoch: rapid.Int64Min(1).Draw(rt, "epoch"), Seq: rapid.Int64Min(1).Draw(rt, "seq"),
				Quantity: rapid.IntRange(1, 1000).Draw(rt, "quantity"), Buyer: model.Buyer(rapid.StringN(1, 9, 128).Draw(rt, "buyer"))}
			if rapid.IntRange(0, 4).Draw(rt, "unreadable") == 0 {
				e = model.Entry{Err: model.ErrUnreadable}
			}
			v := model.Verdict(rapid.IntRange(1, 5).Draw(rt, "verdict"))
			s.Batch.Entries, s.Verdicts = append(s.Batch.Entries, e), append(s.Verdicts, v)
			if e.Err == nil {
				want = append(want, Told{model.Ticket{Item: 7, Epoch: e.Epoch, Seq: e.Seq, Quantity: e.Quantity, Buyer: e.Buyer}, v})
			}
		}
		m, err := decodeMessage("settled|7|1|2|3|4|-5|6|" + string(encodeTold(s)))
		if err != nil || fmt.Sprint(m.Told) != fmt.Sprint(want) ||
			m.Progress != (Progress{Item: 7, Epoch: 1, Served: 2, Seq: 3, Queued: 4, Available: -5, Version: 6}) {
			rt.Fatalf("%+v, %v; want %v", m, err, want)
		}
	})
}

func FuzzDecodeMessage(f *testing.F) {
	f.Add("woken|1|1|1|1|1|1|1|")
	f.Add("settled|1|1|1|1|1|1|1|\x01\x01\x01\x01\x03ann")
	f.Add("settled|1|1|1|1|1|1|1|\x01\x01\x01\x01\xffann")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := decodeMessage(text); err == nil && m.Kind == 0 {
			t.Errorf("%q is of no kind", text)
		}
	})
}

// BenchmarkRedisJoin is accepted clicks, each of a new buyer, by 256 callers at once: gathered, and with a script call
// for each click.
func BenchmarkRedisJoin(b *testing.B) {
	b.Run("gathered", func(b *testing.B) {
		benchmarkJoin(b, func(r *Redis, item model.ID, click Click) error {
			_, err := r.Join(context.Background(), item, click)
			return err
		})
	})
	b.Run("one call a click", func(b *testing.B) {
		benchmarkJoin(b, func(r *Redis, item model.ID, click Click) error {
			i, err := r.item(item)
			if err != nil {
				return err
			}
			w := &waiter{click: click, told: make(chan struct{}, 1)}
			r.fly(item, i, []*waiter{w})
			<-w.told
			return w.err
		})
	})
}

func benchmarkJoin(b *testing.B, join func(*Redis, model.ID, Click) error) {
	server := redistest.Start(b)
	r, err := OpenRedis(nil, RedisOptions{URL: server.URL(0), Limit: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.sendInstall(b.Context(), model.Item{ID: 1, Epoch: 1, Version: 1, Available: 1, StartsAt: 1}); err != nil {
		b.Fatal(err)
	}
	var buyers atomic.Int64
	b.ReportAllocs()
	b.SetParallelism(128)
	b.ResetTimer()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			buyer := model.Buyer(fmt.Sprint("buyer ", buyers.Add(1)))
			if err := join(r, 1, Click{Buyer: buyer, Quantity: 1}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "clicks/s")
}
