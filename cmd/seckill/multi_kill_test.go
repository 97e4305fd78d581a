package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	// partRounds is how often a part is killed with enough tickets undecided.
	partRounds = 10
	// takeoverWithin is how long an item may wait for its next owner.
	takeoverWithin = 6 * time.Second
)

// TestPartsAreKilledMidSale kills an instance, Redis and MariaDB in turn, each time while a line of tickets is being
// decided, and starts the part again: every ticket that was given ends in one verdict, first come, first served, and it
// never changes again.
func TestPartsAreKilledMidSale(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	parts := []part{
		{"an instance", func() { s.killApp(s.apps[0]) }, func() { s.launch(s.apps[0]) }},
		{"Redis", s.redis.Kill, s.redis.Restart},
		{"another instance", func() { s.killApp(s.apps[1]) }, func() { s.launch(s.apps[1]) }},
		{"MariaDB", s.maria.Kill, func() { s.maria.Restart(t) }},
	}
	var held []click
	var told []ticket
	for round, attempt := 0, 0; round < partRounds; attempt++ {
		if attempt == 3*partRounds {
			t.Fatalf("only %d of %d kills left %d tickets undecided", round, attempt, leastUndecided)
		}
		itemID, log, undecided := s.killPart(parts[round%len(parts)])
		answers := s.verdicts(log)
		s.mustAddUp(itemID, log, answers, "sold_out")
		mustBeFirstCome(t, answers)
		held, told = append(held, log...), append(told, answers...)
		if undecided >= leastUndecided {
			round++
		}
	}
	s.mustStay(held, told)
	s.mustHold()
}

// part is a process of the shop.
type part struct {
	name        string
	kill, start func()
}

// killPart lets a line gather while MariaDB holds still, with a batch on its way, and kills the part soon after MariaDB has
// gone on. It returns when all is decided, with the item, its accepted clicks, and how many of their tickets were
// undecided right after the kill.
func (s *shop) killPart(p part) (itemID string, held []click, undecided int) {
	t := s.t
	t.Helper()
	itemID = s.admin().publish(map[string]any{"stock": 300}).ID
	for _, app := range s.apps {
		s.mustSellAt(app, itemID) // so that each knows the item
	}
	s.maria.Freeze()
	held = accepted(t, herd(t, s.program, itemID, names("buyer", 400)))
	s.maria.Thaw()
	<-time.After(time.Duration(rand.IntN(30_000)) * time.Microsecond)
	p.kill()
	killed := time.Now()
	if p.name == "MariaDB" {
		p.start() // nobody can be asked before
	}
	undecided = s.undecidedOf(itemID, held)
	if p.name == "Redis" {
		p.start()
	}
	eventually(t, 20*time.Second, "every ticket is decided", func() bool { return s.undecidedOf(itemID, held) == 0 })
	t.Logf("%s was killed with %d of %d tickets undecided; all were decided %s later", p.name, undecided, len(held),
		time.Since(killed).Round(time.Millisecond))
	if p.name != "MariaDB" && p.name != "Redis" {
		p.start()
	}
	return itemID, held, undecided
}

// undecidedOf is how many of the tickets SQL has not decided.
func (s *shop) undecidedOf(itemID string, held []click) (n int) {
	s.t.Helper()
	decided := itemInSQL(s.t, s.db, itemID).decided
	for _, line := range held {
		if line.ticket.Seq > decided {
			n++
		}
	}
	return n
}

// TestOwnerIsLost: an instance dies, comes back, and then the other one freezes. Each time the one that is left goes on
// with all items within 6 s.
func TestOwnerIsLost(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	items := s.publishMany(manyItems)
	s.killApp(s.apps[0])
	s.mustBeTakenOver(items, time.Now())
	s.launch(s.apps[0])
	s.mustBeShared(len(items))
	s.freeze(s.apps[1])
	s.mustBeTakenOver(items, time.Now())
	s.thaw(s.apps[1])
	s.mustBeShared(len(items))
	s.mustHold()
}

// TestOwnerIsFrozen: an instance stops in its tracks for 15 s with a batch of each of its items on the way to MariaDB, and
// goes on. Meanwhile the other one has its items within 6 s and decides all that waits, and units come back on sale. When
// the frozen one wakes, no verdict changes and nothing is decided twice.
func TestOwnerIsFrozen(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	items := s.publishMany(manyItems)
	held, told := map[string][]click{}, map[string][]ticket{}
	s.maria.Freeze() // for less than it takes until an instance without SQL gives its items away
	lines := make([][]click, len(items))
	var clicking sync.WaitGroup
	for n, id := range items {
		clicking.Go(func() { lines[n] = s.insistAll(id, names("before", 30)) })
	}
	clicking.Wait()
	for n, id := range items {
		held[id] = accepted(t, lines[n])
	}
	frozen := time.Now()
	s.freeze(s.apps[0])
	wakes := time.After(15 * time.Second)
	s.maria.Thaw()
	s.mustBeTakenOver(items, frozen)
	for _, id := range items {
		s.admin().json("POST", "/api/v1/admin/items/"+id+"/stock", `{"delta":5,"reason":"found"}`).want(t, http.StatusOK)
		held[id] = append(held[id], accepted(t, s.insistAll(id, names("meanwhile", 40)), "sold_out")...)
		told[id] = s.verdicts(held[id])
	}
	<-wakes
	s.thaw(s.apps[0])
	for _, id := range items {
		s.mustSettle(id)
		s.mustStay(held[id], told[id])
		s.mustAddUp(id, held[id], told[id], "sold_out")
	}
	s.mustHold()
}

// mustSettle raises the stock, at the instance that was frozen, and sells a unit more: the batches of before have ended.
func (s *shop) mustSettle(itemID string) {
	s.t.Helper()
	woken := s.at(s.apps[0])
	woken.admin().json("POST", "/api/v1/admin/items/"+itemID+"/stock", `{"delta":1,"reason":"one"}`).want(s.t, http.StatusOK)
	line := s.insistAll(itemID, []string{"last"})
	if got := woken.verdicts(line); got[0].Status != "won" {
		s.t.Errorf("the last buyer of %s was told %q", itemID, got[0].Status)
	}
}

// manyItems is so many that an instance owns one of them, but for one run in 4,096.
const manyItems = 12

// publishMany puts n items on sale, sells one unit of each at each instance, so that all know it, and waits until each
// item has one owner: instances that have just started may not have heard of each other yet.
func (s *shop) publishMany(n int) (ids []string) {
	s.t.Helper()
	for range n {
		id := s.admin().publish(map[string]any{"stock": 50}).ID
		for _, app := range s.apps {
			s.mustSellAt(app, id)
		}
		ids = append(ids, id)
	}
	s.mustBeShared(n)
	return ids
}

// mustBeShared waits until each of n items, which are all there are, has one owner, and each instance owns some.
func (s *shop) mustBeShared(n int) {
	s.t.Helper()
	eventually(s.t, 10*time.Second, "each item has one owner", func() bool {
		first, second := s.sellersOf(s.apps[0]), s.sellersOf(s.apps[1])
		return first+second == n && first > 0 && second > 0
	})
}

var sellersLine = regexp.MustCompile(`(?m)^seckill_sellers (\d+)$`)

// sellersOf is how many items the instance sells.
func (s *shop) sellersOf(app *program) int {
	s.t.Helper()
	a := s.at(app).client(nil).get("/metrics")
	m := sellersLine.FindSubmatch(a.body)
	if m == nil {
		s.t.Fatalf("the metrics do not tell the sellers: %d %.300s", a.status, a.body)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// mustSellAt sells a unit at one instance, or through the balancer.
func (s *shop) mustSellAt(p *program, itemID string) {
	s.t.Helper()
	c := s.at(p).buyer(nil, "buyer-at-"+p.url)
	a, err := c.insist(itemID, 10*time.Second)
	if err != nil {
		s.t.Fatal(err)
	}
	a.want(s.t, http.StatusAccepted)
	if got := c.verdict(decode[ticket](s.t, a).Ticket, 10*time.Second); got.Status != "won" {
		s.t.Errorf("the buyer at %s was told %q", p.url, got.Status)
	}
}

// mustBeTakenOver clicks on every item until one click has been decided, and fails the test if that was later than 6 s
// after the owner was lost.
func (s *shop) mustBeTakenOver(items []string, lost time.Time) {
	s.t.Helper()
	waited := make(chan time.Duration, len(items))
	errs := make(chan error, len(items))
	for _, id := range items {
		go func() {
			c := s.buyer(nil, fmt.Sprint("after-", lost.UnixNano()))
			a, err := c.insist(id, 10*time.Second)
			if err == nil && a.status == http.StatusAccepted {
				var t ticket
				if err = json.Unmarshal(a.body, &t); err == nil {
					_, err = c.await(t.Ticket, 20*time.Second)
				}
			}
			errs <- err
			waited <- time.Since(lost)
		}()
	}
	var longest time.Duration
	moved := 0
	for range items {
		if err := <-errs; err != nil {
			s.t.Error(err)
		}
		took := <-waited
		longest = max(longest, took)
		if took > time.Second {
			moved++
		}
	}
	s.t.Logf("%d of %d items had to wait for another owner, at most %s", moved, len(items), longest.Round(time.Millisecond))
	if longest > takeoverWithin {
		s.t.Errorf("an item waited %s for its next owner, at most %s is promised", longest, takeoverWithin)
	}
}
