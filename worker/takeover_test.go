package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store"
	"seckill/model/store/mariadbtest"
)

// hands is the worker's side of a queue, which a test can hold: then every call waits, as in a process that is frozen, or
// for good, as in one that is gone.
type hands struct {
	queue.Queue
	mu   sync.Mutex
	held chan struct{}
}

func (h *hands) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = make(chan struct{})
}

func (h *hands) free() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held != nil {
		close(h.held)
		h.held = nil
	}
}

func (h *hands) wait() {
	h.mu.Lock()
	held := h.held
	h.mu.Unlock()
	if held != nil {
		<-held
	}
}

func (h *hands) Now(ctx context.Context) (model.Instant, error) {
	h.wait()
	return h.Queue.Now(ctx)
}

func (h *hands) Beat(ctx context.Context, worker string) ([]string, error) {
	h.wait()
	return h.Queue.Beat(context.WithoutCancel(ctx), worker)
}

func (h *hands) Peek(ctx context.Context, item model.ID, most int) (queue.Batch, error) {
	h.wait()
	return h.Queue.Peek(context.WithoutCancel(ctx), item, most)
}

// crew is workers on one Redis and one database, and a queue for those who click.
type crew struct {
	*shop
	server  *redistest.Server
	front   *queue.Redis
	workers map[string]*member
}

type member struct {
	sellers *Sellers
	hands   *hands
	stop    func()
}

// openCrew is a running crew whose members see each other.
func openCrew(s *shop, names ...string) *crew {
	server := redistest.Start(s.t, "--appendonly", "yes")
	c := &crew{shop: s, server: server, front: s.openRedis(server), workers: map[string]*member{}}
	for _, name := range names {
		c.hire(name, s.store)
	}
	c.meet()
	return c
}

// hire has one more worker begin, with a database of its own.
func (c *crew) hire(name string, db *store.Store) {
	m := &member{hands: &hands{Queue: c.openRedis(c.server)}}
	m.sellers = New(Options{Store: db, Queue: m.hands, Log: c.logger(), Name: name})
	m.stop = sync.OnceFunc(c.run(m.sellers))
	c.workers[name] = m
	c.t.Cleanup(func() { m.hands.free(); m.stop() })
}

// meet waits until everybody sees everybody.
func (c *crew) meet() {
	c.t.Helper()
	c.await(10*time.Second, "everybody sees everybody", func() bool {
		for _, m := range c.workers {
			if m.sellers.owners.count() != len(c.workers) {
				return false
			}
		}
		return true
	})
}

// count is how many workers are seen.
func (o *owners) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.live)
}

// seller is the item's running seller, nil for none.
func (s *Sellers) seller(item model.ID) *seller {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[item]
}

func (s *Sellers) sells(item model.ID) bool { return s.seller(item) != nil }

// put publishes an item that this worker owns, as a process that answers browsers does.
func (c *crew) put(owner string, stock int64) model.Item {
	c.t.Helper()
	for range 1000 {
		item := c.create(stock, func(i *model.Item) { i.StartsAt = 1 })
		if !c.workers[owner].sellers.owners.owns(item.ID) {
			continue
		}
		c.must(c.front.Install(c.t.Context(), item))
		return item
	}
	c.t.Fatalf("%s owns nothing", owner)
	return model.Item{}
}

// await asks until ok holds, and returns how long that took.
func (c *crew) await(within time.Duration, what string, ok func() bool) time.Duration {
	c.t.Helper()
	start := time.Now()
	late := time.After(within)
	for !ok() {
		select {
		case <-late:
			c.t.Fatalf("not within %v: %s", within, what)
		case <-time.After(5 * time.Millisecond): // others are at work
		}
	}
	return time.Since(start)
}

// click joins until Redis takes the click.
func (c *crew) click(item model.Item, buyer model.Buyer) model.Ticket {
	c.t.Helper()
	var a queue.Answer
	c.await(10*time.Second, "a click is taken", func() (taken bool) {
		var err error
		a, err = c.front.Join(c.t.Context(), item.ID, queue.Click{Buyer: buyer, Quantity: 1})
		if err != nil && !errors.Is(err, model.ErrUnavailable) && !errors.Is(err, queue.ErrMissing) && !errors.Is(err, queue.ErrStale) {
			c.t.Fatal(err)
		}
		return err == nil
	})
	return a.Ticket
}

// decided waits for the ticket's verdict, and returns how long that took.
func (c *crew) decided(ticket model.Ticket, want model.Verdict) time.Duration {
	c.t.Helper()
	return c.await(15*time.Second, fmt.Sprintf("%s has the verdict %v", ticket.Buyer, want), func() bool {
		place, err := c.front.Look(c.t.Context(), ticket)
		if err == nil && place.State == queue.Decided && place.Verdict != want {
			c.t.Fatalf("%s has the verdict %v, want %v", ticket.Buyer, place.Verdict, want)
		}
		return err == nil && place.State == queue.Decided
	})
}

func (c *crew) audit() {
	c.t.Helper()
	checks, err := c.store.Audit(c.t.Context())
	c.must(err)
	for _, check := range checks {
		if !check.OK {
			c.t.Errorf("%s: %+v", check.Promise, check.Breaches)
		}
	}
}

// eachShop runs a test on SQLite and on MariaDB.
func eachShop(t *testing.T, test func(s *shop)) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	for name, dsn := range map[string]func(t *testing.T) string{
		"sqlite":  func(t *testing.T) string { return "sqlite://" + t.TempDir() + "/shop.db" },
		"mariadb": func(t *testing.T) string { s := mariadbtest.Start(t); return s.DSN(s.Database(t)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShopOn(t, dsn(t))
			t.Cleanup(s.close)
			test(s)
		})
	}
}

// takeover is how soon the items of a worker that is gone have another owner.
const takeover = 6 * time.Second

func TestOnlyTheOwnerSells(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob", "cid")
		for _, name := range []string{"ann", "bob", "cid"} {
			item := c.put(name, 1)
			took := c.decided(c.click(item, "buyer"), model.Won)
			t.Logf("a new item of %s sold after %v", name, took)
			if took > time.Second {
				t.Errorf("a new item of %s had its first verdict after %v", name, took)
			}
			for other, m := range c.workers {
				if sells := m.sellers.sells(item.ID); sells != (other == name) {
					t.Errorf("%s sells an item of %s: %v", other, name, sells)
				}
			}
		}
		c.audit()
	})
}

func TestAnOwnerThatDiesIsReplaced(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob", "cid")
		item, other := c.put("ann", 1), c.put("bob", 1)
		c.decided(c.click(other, "first"), model.Won)
		c.workers["ann"].hands.hold()
		died := time.Now()
		c.decided(c.click(item, "buyer"), model.Won)
		took := time.Since(died)
		t.Logf("taken over after %v", took)
		if took > takeover {
			t.Errorf("taken over after %v", took)
		}
		if m := c.workers["bob"]; !m.sellers.sells(other.ID) {
			t.Error("bob has lost an item of his own")
		}
		c.audit()
	})
}

// One whose database does not answer leaves its items to those who have one.
func TestAnOwnerWithoutSQLIsReplaced(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	server := mariadbtest.Start(t)
	name := server.Database(t)
	proxy := redistest.NewProxy(t, server.Addr())
	s := openShopOn(t, server.DSN(name))
	t.Cleanup(s.close)
	far, err := store.Open(t.Context(), mariadbtest.DSN(proxy.Address(), name), store.Options{Now: s.now})
	s.must(err)
	t.Cleanup(func() { s.must(far.Close()) })
	_, err = far.Migrate(t.Context())
	s.must(err)
	c := openCrew(s, "bob")
	c.hire("ann", far)
	c.meet()
	item := c.put("ann", 2)
	c.decided(c.click(item, "first"), model.Won)
	proxy.CutReplies("select")
	took := c.decided(c.click(item, "second"), model.Won)
	t.Logf("taken over after %v", took)
	if took > takeover {
		t.Errorf("taken over after %v", took)
	}
	proxy.CutReplies("")
	c.meet()
	c.audit()
}

// One that ends in good order is not waited for.
func TestAnOwnerThatLeavesIsReplacedAtOnce(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob")
		item := c.put("ann", 1)
		c.workers["ann"].stop()
		if took := c.decided(c.click(item, "buyer"), model.Won); took > 2*time.Second {
			t.Errorf("taken over after %v", took)
		}
	})
}

// An owner freezes between peek and commit, another takes over and turns the ticket down, units are released, and the
// first wakes: the loss stays a loss, and the units are for the next click.
func TestAFrozenOwnerWakesTooLate(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob")
		item := c.put("ann", 1)
		c.decided(c.click(item, "winner"), model.Won)

		frozen := c.workers["ann"]
		peeked, wake := make(chan struct{}), make(chan struct{})
		once := sync.OnceFunc(func() { close(peeked) })
		woke := make(chan error, 8)
		frozen.sellers.seller(item.ID).decide = func(ctx context.Context, id model.ID, epoch int64, entries []model.Entry) (store.Outcome, error) {
			once()
			<-wake
			out, err := s.store.Decide(context.WithoutCancel(ctx), id, epoch, entries)
			woke <- err
			return out, err
		}
		row, err := s.store.AdjustStock(t.Context(), item.ID, 1, "")
		s.must(err)
		s.must(c.front.Mirror(t.Context(), row))
		loser := c.click(item, "loser")
		<-peeked
		frozen.hands.hold()
		row, err = s.store.AdjustStock(t.Context(), item.ID, -1, "")
		s.must(err)
		s.must(c.front.Mirror(t.Context(), row))
		start := time.Now()
		c.decided(loser, model.SoldOut)
		if took := time.Since(start); took > takeover {
			t.Errorf("taken over after %v", took)
		}
		row, err = s.store.AdjustStock(t.Context(), item.ID, 1, "")
		s.must(err)
		s.must(c.front.Mirror(t.Context(), row))
		close(wake)
		frozen.hands.free()
		s.must(<-woke)
		c.decided(c.click(item, "next"), model.Won)
		c.decided(loser, model.SoldOut)
		if n := len(s.orders(item)); n != 2 {
			t.Errorf("%d orders, want those of winner and next", n)
		}
		c.audit()
	})
}

// Redis is emptied: the owner puts the queue up again, whether it lives or has just died.
func TestAnEmptiedRedisIsRebuilt(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob", "cid")
		item, orphan := c.put("ann", 40), c.put("bob", 40)
		for n := range 20 {
			c.decided(c.click(item, model.Buyer(fmt.Sprint("buyer ", n))), model.Won)
		}
		c.workers["bob"].hands.hold()
		c.server.Do("FLUSHALL")
		emptied := time.Now()
		var clicks sync.WaitGroup
		for n := 20; n < 60; n++ {
			clicks.Go(func() {
				buyer := model.Buyer(fmt.Sprint("buyer ", n))
				if v, err := s.shopper(c.front, item.ID, buyer); err != nil || v != model.Won && v != model.SoldOut {
					t.Errorf("%s: %v, %v", buyer, v, err)
				}
			})
		}
		clicks.Wait()
		if took := time.Since(emptied); took > 5*time.Second {
			t.Errorf("sold after %v", took)
		}
		c.decided(c.click(orphan, "buyer"), model.Won)
		if took := time.Since(emptied); took > takeover+time.Second {
			t.Errorf("an item whose owner has died too sold after %v", took)
		}
		if n := len(s.orders(item)); n != 40 {
			t.Errorf("%d orders of 40 units", n)
		}
		c.audit()
	})
}

func TestOthersRepairWhatTheOwnerDoesNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Store: &store.Store{}})
		if s.mayInstall(1, true, true) {
			t.Error("a queue that stands is installed")
		}
		if !s.mayInstall(2, false, true) {
			t.Error("the owner waits")
		}
		for second := range 5 {
			if may := s.mayInstall(1, false, false); may != (second > 3) {
				t.Errorf("after %d s another may: %v", second, may)
			}
			time.Sleep(time.Second)
		}
		s.mayInstall(1, true, false)
		if s.mayInstall(1, false, false) {
			t.Error("it has stood meanwhile, and another does not wait")
		}
	})
}

// Everybody puts the same queue up at once: it stands then, and nothing is lost or sold twice.
func TestRebuildsAtOnceAgree(t *testing.T) {
	eachShop(t, func(s *shop) {
		c := openCrew(s, "ann", "bob", "cid")
		item := c.put("ann", 30)
		for round := range 3 {
			var all sync.WaitGroup
			for n := range 10 {
				all.Go(func() {
					buyer := model.Buyer(fmt.Sprint("buyer ", round, " ", n))
					if v, err := s.shopper(c.front, item.ID, buyer); err != nil || v != model.Won && v != model.Duplicate {
						t.Errorf("%s: %v, %v", buyer, v, err)
					}
				})
			}
			c.server.Do("FLUSHALL")
			for _, m := range c.workers {
				all.Go(func() { _ = m.hands.Queue.Install(t.Context(), item) })
			}
			all.Wait()
		}
		if n := len(s.orders(item)); n != 30 {
			t.Errorf("%d orders, want 30", n)
		}
		c.audit()
	})
}

// An item was over for long before any worker began: who still waits is answered, and then its keys go.
func TestWhatWasOverBeforeIsClearedAway(t *testing.T) {
	eachShop(t, func(s *shop) {
		server := redistest.Start(s.t)
		front := s.openRedis(server)
		now, err := front.Now(s.t.Context())
		s.must(err)
		item := s.create(1, func(i *model.Item) { i.StartsAt, i.EndsAt = 1, now.Add(-2*keepOver) })
		s.must(front.Install(s.t.Context(), item))
		row, err := s.store.Item(s.t.Context(), item.ID)
		s.must(err)
		row.EndsAt, row.Version = 0, row.Version+1
		s.must(front.Mirror(s.t.Context(), row)) // Redis is as it was before the end
		if _, err := front.Join(s.t.Context(), item.ID, queue.Click{Buyer: "ann", Quantity: 1}); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(s.run(s.sellers(s.openRedis(server))))
		c := crew{shop: s}
		c.await(10*time.Second, "the keys are gone", func() bool { return len(server.Do("KEYS", "{*").([]any)) == 0 })
		if len(s.orders(item)) != 1 {
			s.t.Error("who waited has no order")
		}
	})
}
