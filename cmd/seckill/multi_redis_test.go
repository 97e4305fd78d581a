package main_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// refusedWithin is how long a click waits at most for a 503: 2 s, and one more under the race detector.
func refusedWithin() time.Duration {
	if raceDetector {
		return 3 * time.Second
	}
	return 2 * time.Second
}

// TestRedisIsEmptied: FLUSHALL with 40 of 100 units sold and a line that waits for SQL; and then Redis comes back as it was
// before that. Exactly 60 more are sold, the 40 keep their orders, and whoever waited has won, or is told that the ticket is
// lost.
func TestRedisIsEmptied(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{redis: []string{"--appendfsync", "always"}})
	it := s.admin().publish(map[string]any{"stock": 100})
	winners := s.insistAll(it.ID, names("winner", 40))
	won := s.verdicts(winners)

	s.maria.Freeze()
	waiting := accepted(t, s.insistAll(it.ID, names("waiting", 20)))
	size := s.redis.FileSize()
	s.redis.Do("FLUSHALL")
	s.maria.Thaw()
	flushed := time.Now()
	after := accepted(t, s.insistAll(it.ID, names("after", 20)))
	t.Logf("20 buyers were answered %s after the loss", time.Since(flushed).Round(time.Millisecond))
	line := append(waiting, after...)
	told := s.verdicts(line)
	for _, got := range told[len(waiting):] {
		if got.Status != "won" {
			t.Errorf("a click of after the loss, with units left, is told %+v", got)
		}
	}
	s.redis.CutFile(size)
	last := accepted(t, s.insistAll(it.ID, names("last", 200)), "sold_out")
	line, told = append(line, last...), append(told, s.verdicts(last)...)
	if n := s.mustAddUp(it.ID, line, told, "sold_out", "lost"); n != 60 {
		t.Errorf("%d more won, want 60", n)
	}
	s.mustStay(winners, won)
	for n, line := range winners {
		s.mustBeServedOnce(it.ID, line, won[n])
	}
	s.mustStay(line, told)
	s.mustHold()
}

// mustBeServedOnce lets a holder click again: refused with the order, or a ticket that ends as a duplicate.
func (s *shop) mustBeServedOnce(itemID string, line click, won ticket) {
	s.t.Helper()
	c := s.buyer(nil, line.buyer)
	a, err := c.insist(itemID, 10*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	if a.status == http.StatusAccepted {
		got := c.verdict(decode[ticket](s.t, a).Ticket, 10*time.Second)
		if got.Ticket != won.Ticket && got.Status != "duplicate" || got.Order == nil || got.Order.No != won.Order.No {
			s.t.Errorf("%s has %+v and was told of a second click %+v", line.buyer, won.Order, got)
		}
		return
	}
	p := a.problem()
	if p.Code != "already_bought" && p.Code != "sold_out" && p.Code != "ended" {
		s.t.Errorf("%s holds an order and is answered %d %s", line.buyer, a.status, a.body)
	}
	if p.Code == "already_bought" && (p.Order == nil || p.Order.No != won.Order.No) {
		s.t.Errorf("%s has %+v and is answered with %+v", line.buyer, won.Order, p.Order)
	}
}

// TestRedisComesBackOlder: the append-only file is cut by a third, with winners, losers and a line. No winner loses, no
// ticket answers a stranger, no number is decided twice.
func TestRedisComesBackOlder(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{redis: []string{"--appendfsync", "always"}})
	itemID, before := s.holdLine(leastUndecided)
	db := itemInSQL(t, s.db, itemID)
	size := s.redis.FileSize()
	s.redis.CutFile(size * 2 / 3)

	s.resume(itemID)
	later := accepted(t, s.insistAll(itemID, names("later", 400)), "sold_out")
	all := append(before, later...)
	told := s.verdicts(all)
	won := s.mustAddUp(itemID, all, told, "sold_out", "lost")
	lost := 0
	for n, got := range told {
		if all[n].ticket.Seq <= db.decided && n < len(before) && got.Status != "won" {
			t.Errorf("number %d had won before and is %q now", all[n].ticket.Seq, got.Status)
		}
		if got.Status == "lost" {
			lost++
		}
	}
	t.Logf("%d of %d bytes were kept, %d tickets decided before; %d of %d tickets are lost, %d won", size*2/3, size, db.decided, lost, len(before), won)
	for n := 0; n < len(before); n += 20 {
		stranger := s.buyer(nil, later[n%len(later)].buyer)
		stranger.get("/api/v1/tickets/"+before[n].ticket.Ticket).wantCode(t, http.StatusNotFound, "not_found")
	}
	s.mustStay(all, told)
	s.mustHold()
}

// TestLossStaysALoss: Redis comes back from before a line was decided, and meanwhile there are units again. The line is gone
// through once more: who has lost does not win, who has won does not win twice, and the units go to new buyers.
func TestLossStaysALoss(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{redis: []string{"--appendfsync", "always"}})
	id := s.admin().publish(map[string]any{"stock": 22}).ID
	for _, app := range s.apps {
		s.mustSellAt(app, id)
	}
	s.maria.Freeze()
	held := accepted(t, herd(t, s.program, id, names("early", 150)))
	size := s.redis.FileSize()
	s.maria.Thaw()
	told := s.verdicts(held)
	if won := s.mustAddUp(id, held, told, "sold_out"); won != 20 || len(held) != 150 {
		t.Errorf("%d of %d won, want 20 of 150", won, len(held))
	}
	s.admin().json("POST", "/api/v1/admin/items/"+id+"/stock", `{"delta":100,"reason":"found"}`).want(t, http.StatusOK)

	s.redis.CutFile(size)
	late := accepted(t, s.insistAll(id, names("late", 150)), "sold_out")
	answers := s.verdicts(late)
	s.mustStay(held, told)
	if won := s.mustAddUp(id, late, answers, "sold_out"); won != 100 {
		t.Errorf("%d of the late won, want 100", won)
	}
	s.mustAddUp(id, held, told, "sold_out")
	s.mustHold()
}

// TestRedisIsFrozen: clicks on a frozen Redis are answered 503 with Retry-After within 2 s, and when it wakes none of them
// is carried out.
func TestRedisIsFrozen(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})
	first := s.insistAll(it.ID, names("first", 10))
	told := s.verdicts(first)

	s.redis.Freeze()
	refused := names("refused", 60)
	for range 2 {
		s.mustBeUnavailable(it.ID, refused)
	}
	s.redis.Thaw()
	woken := time.Now()
	next := s.insistAll(it.ID, []string{"next"})
	t.Logf("the first click after the thaw was taken after %s", time.Since(woken).Round(time.Millisecond))
	if took := time.Since(woken); took > 5*time.Second {
		t.Errorf("the first click after the thaw was taken after %s", took)
	}
	s.verdicts(next)
	s.emptyLine(it.ID)
	if seq := s.meta(it.ID, "seq"); seq != 11 {
		t.Errorf("11 clicks were accepted and %d numbers given", seq)
	}
	if rows := orders(t, s.db, it.ID); len(rows) != 11 {
		t.Errorf("11 clicks were accepted, SQL has %+v", rows)
	}
	again := s.insistAll(it.ID, refused)
	s.mustAddUp(it.ID, again, s.verdicts(accepted(t, again)))
	s.mustStay(first, told)
	s.mustHold()
}

// meta is a number that Redis keeps of the item.
func (s *shop) meta(itemID, field string) int64 {
	s.t.Helper()
	text, err := s.keys.HGet(s.t.Context(), "{"+itemID+"}:meta", field).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// mustBeUnavailable lets the buyers click once, all together: each is answered 503 with Retry-After within 2 s.
func (s *shop) mustBeUnavailable(itemID string, buyers []string) {
	s.t.Helper()
	tr := crowd(s.t)
	var clicking sync.WaitGroup
	var mu sync.Mutex
	var longest time.Duration
	for _, id := range buyers {
		clicking.Go(func() {
			asked := time.Now()
			a, err := s.buyer(tr, id).tryBuy(itemID, 0)
			took := time.Since(asked)
			mu.Lock()
			defer mu.Unlock()
			longest = max(longest, took)
			if err != nil || a.status != http.StatusServiceUnavailable {
				s.t.Errorf("a click without Redis was answered %d %.200s, %v", a.status, a.body, err)
				return
			}
			if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || seconds < 1 {
				s.t.Errorf("a 503 says Retry-After %q", a.header.Get("Retry-After"))
			}
		})
	}
	clicking.Wait()
	s.t.Logf("%d clicks without Redis were answered within %s", len(buyers), longest.Round(time.Millisecond))
	if longest > refusedWithin() {
		s.t.Errorf("a click without Redis was answered after %s", longest)
	}
}

// TestRedisIsAway: while Redis is dead clicks are answered 503 with Retry-After within 2 s and never sold_out; 5 s after
// its return at the latest the sale goes on, without a restart of anything else.
func TestRedisIsAway(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	itemID, held := s.holdLine(leastUndecided)
	s.redis.Kill()
	for round := range 6 {
		s.mustBeUnavailable(itemID, names("away-"+strconv.Itoa(round), 40))
		<-time.After(500 * time.Millisecond)
	}
	s.at(s.apps[0]).client(nil).get("/readyz").want(t, http.StatusServiceUnavailable)
	s.at(s.apps[0]).client(nil).get("/healthz").want(t, http.StatusOK)

	s.redis.Restart()
	back := time.Now()
	eventually(t, 5*time.Second, "the sale goes on after the return of Redis", func() bool {
		a, err := s.admin().try("POST", "/api/v1/admin/items/"+itemID+"/resume", "", "")
		if err != nil || a.status != http.StatusOK {
			return false
		}
		a, err = s.buyer(nil, "patient").tryBuy(itemID, 0)
		return err == nil && (a.status == http.StatusAccepted || a.problem().Code == "sold_out")
	})
	t.Logf("the sale went on %s after the return of Redis", time.Since(back).Round(time.Millisecond))
	told := s.verdicts(held)
	s.mustAddUp(itemID, held, told, "sold_out")
	mustBeFirstCome(t, told)
	s.mustHold()
}

// TestRedisIsFull: with no memory left for more, clicks are answered 503, never sold_out, and the line is decided all the
// same; with memory again the sale goes on.
func TestRedisIsFull(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 300})
	s.verdicts(s.insistAll(it.ID, names("first", 10)))
	s.maria.Freeze()
	held := accepted(t, s.insistAll(it.ID, names("waiting", 200)))
	s.redis.Do("CONFIG", "SET", "maxmemory", "1")
	s.maria.Thaw()
	stop := every(t, 500*time.Millisecond, func(n int) {
		s.mustBeUnavailable(it.ID, names("full-"+strconv.Itoa(n), 20))
	})
	told := s.verdicts(held)
	<-time.After(6 * time.Second) // longer than an owner may be silent
	stop()
	if won := s.mustAddUp(it.ID, held, told); won != len(held) {
		t.Errorf("%d of %d won", won, len(held))
	}
	s.redis.Do("CONFIG", "SET", "maxmemory", "0")
	later := s.insistAll(it.ID, names("later", 90))
	s.mustAddUp(it.ID, later, s.verdicts(accepted(t, later)))
	s.mustStay(held, told)
	s.mustHold()
}

// TestClosedStaysClosed: a close that is overtaken by new units, or whose Redis comes back from before it, stays closed.
func TestClosedStaysClosed(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{redis: []string{"--appendfsync", "always"}})
	for n := range 10 {
		it := s.admin().publish(map[string]any{"stock": 1})
		s.verdicts(s.insistAll(it.ID, []string{"first"}))
		var both sync.WaitGroup
		both.Go(func() { s.at(s.apps[n%2]).admin().act(it.ID, "close") })
		both.Go(func() { // may come too late
			_, _ = s.at(s.apps[(n+1)%2]).admin().try("POST", "/api/v1/admin/items/"+it.ID+"/stock", "application/json", `{"delta":5,"reason":"more"}`)
		})
		both.Wait()
		s.mustBeEnded(it.ID)
	}

	it := s.admin().publish(map[string]any{"stock": 50})
	s.verdicts(s.insistAll(it.ID, names("first", 10)))
	open := s.redis.FileSize()
	s.admin().act(it.ID, "close")
	s.mustBeEnded(it.ID)
	s.redis.CutFile(open)
	s.mustBeEnded(it.ID)
	s.redis.Do("FLUSHALL")
	s.mustBeEnded(it.ID)
	if rows := orders(t, s.db, it.ID); len(rows) != 10 {
		t.Errorf("SQL has %d orders, want the 10 of before the close", len(rows))
	}
	s.mustHold()
}

// mustBeEnded clicks at both instances for a while: every answer is ended, or 503.
func (s *shop) mustBeEnded(itemID string) {
	s.t.Helper()
	for n, name := range names("late-"+itemID, 4) {
		a, err := s.at(s.apps[n%2]).buyer(nil, name).insist(itemID, 10*time.Second)
		if err != nil {
			s.t.Fatal(err)
		}
		a.wantCode(s.t, http.StatusConflict, "ended")
	}
}

// TestLostScriptsAndSubscriptions: Redis forgets the scripts and loses the instances' subscriptions over and over. No
// buyer sees it: every click has its answer and every open page its verdict within 5 s.
func TestLostScriptsAndSubscriptions(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})
	buyers := names("page", 200)
	pages := make([]*page, len(buyers))
	for n, id := range buyers {
		pages[n] = s.at(s.apps[n%2]).open(it.ID, id)
	}
	killed := int64(0)
	stop := every(t, 50*time.Millisecond, func(int) {
		s.keys.ScriptFlush(t.Context())
		killed += s.keys.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Val().(int64)
	})
	var longest time.Duration
	heard := 0
	for first := 0; first < len(buyers); first += 20 {
		group := herd(t, s.program, it.ID, buyers[first:first+20])
		for n, line := range group {
			if line.ticket.Ticket == "" {
				line.answer.wantCode(t, http.StatusConflict, "sold_out")
				continue
			}
			got, took, ok := pages[first+n].hear(line.ticket.Ticket, line.answered, 5*time.Second)
			if !ok || got.Status != "won" && got.Status != "sold_out" {
				t.Fatalf("the page of %s heard %+v, after %s", line.buyer, got, took)
			}
			longest, heard = max(longest, took), heard+1
		}
		<-time.After(100 * time.Millisecond)
	}
	stop()
	t.Logf("%d pages heard their verdicts within %s; %d subscriptions were cut", heard, longest.Round(time.Millisecond), killed)
	if killed == 0 {
		t.Error("no subscription was cut")
	}
	if rows := orders(t, s.db, it.ID); len(rows) != 100 {
		t.Errorf("%d orders, want 100", len(rows))
	}
	s.mustHold()
}
