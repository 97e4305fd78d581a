package ws

import (
	"context"
	"fmt"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store"
)

// farShop is a shop on Redis, and the queue of another process, where the clicks and the verdicts are.
type farShop struct {
	*shop
	server *redistest.Server
	far    *queue.Redis
}

func openFarShop(t *testing.T, with setup) *farShop {
	t.Helper()
	f := &farShop{server: redistest.Start(t)}
	open := func(db *store.Store) *queue.Redis {
		q, err := queue.OpenRedis(db, queue.RedisOptions{URL: f.server.URL(0)})
		must(t, err)
		return q
	}
	with.open = func(db *store.Store) queue.Queue { return open(db) }
	f.shop = openShop(t, with)
	f.far = open(f.store)
	t.Cleanup(func() { must(t, f.far.Close()) })
	return f
}

// join clicks in the other process.
func (f *farShop) join(buyer string) {
	f.t.Helper()
	_, err := f.far.Join(context.Background(), f.item.ID, queue.Click{Buyer: model.Buyer(buyer), Quantity: 1})
	must(f.t, err)
}

// settle decides all that is queued, in batches of one, in the other process.
func (f *farShop) settle() {
	f.t.Helper()
	ctx := context.Background()
	for {
		batch, err := f.far.Peek(ctx, f.item.ID, 1)
		must(f.t, err)
		if len(batch.Entries) == 0 {
			return
		}
		out, err := f.store.Decide(ctx, f.item.ID, batch.Epoch, batch.Entries)
		must(f.t, err)
		must(f.t, f.far.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: out.Verdicts, Item: out.Item}))
	}
}

// What is decided in another process reaches the sockets of this one, whether its messages arrive or not: winners and
// losers, who joined before their socket opened and after.
func TestVerdictsOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pass   func(queue.Message) bool
		within time.Duration
	}{
		"heard": {func(queue.Message) bool { return true }, time.Second},
		"lost":  {func(queue.Message) bool { return false }, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := openFarShop(t, setup{item: func(i *model.Item) { i.Stock = 2 },
				queue: func(q queue.Queue) queue.Queue { return filtered{q, c.pass} }})
			f.join("before")
			want := map[string]string{"before": "won", "after": "won", "loser": "sold_out", "last": "sold_out"}
			pages := map[string]*page{}
			for buyer := range want {
				pages[buyer] = f.page(buyer)
			}
			for _, buyer := range []string{"after", "loser", "last"} {
				f.join(buyer)
			}
			start := time.Now()
			f.settle()
			for buyer, p := range pages {
				v := p.verdict()
				if v.Status != want[buyer] || (v.Order != nil) != (v.Status == "won") {
					t.Errorf("%s: %+v", buyer, v)
				}
			}
			if took := time.Since(start); took > c.within {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Subscriptions are cut again and again while buyers join and are decided: every page has its verdict.
func TestVerdictsWhileSubscriptionsAreCut(t *testing.T) {
	t.Parallel()
	f := openFarShop(t, setup{item: func(i *model.Item) { i.Stock = 10 }})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			f.server.Do("CLIENT", "KILL", "TYPE", "pubsub")
			time.Sleep(50 * time.Millisecond) // an outside process lets go
		}
	}()
	for round := range 20 {
		buyer := fmt.Sprint("buyer ", round)
		p := f.page(buyer)
		f.join(buyer)
		start := time.Now()
		f.settle()
		want := "won"
		if round >= 10 {
			want = "sold_out"
		}
		if v := p.verdict(); v.Status != want || time.Since(start) > 5*time.Second {
			t.Errorf("%s: %+v after %v", buyer, v, time.Since(start))
		}
		if round >= 9 {
			row, err := f.store.Item(t.Context(), f.item.ID)
			must(t, err)
			row.Version, row.Available = row.Version+int64(round), 1 // the gate lets losers in
			must(t, f.far.Mirror(t.Context(), row))
		}
	}
	<-done
}

// Redis loses its data: a page whose ticket is gone is told so, and who had won has it from SQL.
func TestAPageHearsWhatAnEmptiedRedisHasLost(t *testing.T) {
	t.Parallel()
	f := openFarShop(t, setup{})
	f.join("ann")
	f.join("bob")
	ann, bob := f.page("ann"), f.page("bob")
	batch, err := f.far.Peek(t.Context(), f.item.ID, 1)
	must(t, err)
	_, err = f.store.Decide(t.Context(), f.item.ID, batch.Epoch, batch.Entries)
	must(t, err)
	f.server.Do("FLUSHALL")
	row, err := f.store.Item(t.Context(), f.item.ID)
	must(t, err)
	must(t, f.far.Install(t.Context(), row))
	if v := ann.verdict(); v.Status != "won" || v.Order == nil {
		t.Errorf("the winner hears %+v", v)
	}
	if v := bob.verdict(); v.Status != "lost" {
		t.Errorf("the other hears %+v", v)
	}
	if _, err := f.far.Join(t.Context(), f.item.ID, queue.Click{Buyer: "bob", Quantity: 1}); err != nil {
		t.Error(err)
	}
}
