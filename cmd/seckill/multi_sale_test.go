package main_test

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestTwoInstancesSellTheStockOnce: 2,000 buyers click within a second on two instances by chance. Exactly the 100 who
// came first get a unit each, the others are told so, and no number is given twice, left out or served out of turn.
func TestTwoInstancesSellTheStockOnce(t *testing.T) {
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})

	log := herd(t, s.program, it.ID, names("buyer", 2000))
	mustBeWithin(t, log, time.Second)
	mustBeInTurn(t, log)
	held := accepted(t, log, "sold_out")
	told := s.verdicts(held)
	if won := s.mustAddUp(it.ID, held, told, "sold_out"); won != 100 {
		t.Errorf("%d won, want 100", won)
	}
	mustBeFirstCome(t, told)
	for _, app := range s.apps {
		if got := s.at(app).admin().item(it.ID); got.Available != 0 || got.Phase != "sold_out" || got.Queued != 0 {
			t.Errorf("after the herd an instance has the item as %+v", got)
		}
	}
	s.mustHold()
}

// at is one instance instead of the balancer.
func (s *shop) at(app *program) *program { return &program{t: s.t, url: app.url} }

// TestEveryClickReachesBothInstances: a balancer that sends each click twice, to both instances at once, gives nobody two
// tickets or two orders, and takes no unit from the others.
func TestEveryClickReachesBothInstances(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})

	buyers := names("buyer", 300)
	logs := make([][]click, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		logs[0] = herd(t, s.at(s.apps[0]), it.ID, buyers)
	}()
	logs[1] = herd(t, s.at(s.apps[1]), it.ID, buyers)
	<-done
	if t.Failed() {
		t.FailNow()
	}
	for n, line := range logs[0] {
		if other := logs[1][n].ticket.Ticket; line.ticket.Ticket != "" && other != "" && other != line.ticket.Ticket {
			t.Errorf("%s has two tickets: %s %s", line.buyer, line.ticket.Ticket, other)
		}
	}
	held := accepted(t, append(logs[0], logs[1]...), "sold_out", "already_bought")
	tickets := map[string]bool{}
	for _, got := range s.verdicts(held) {
		if got.Status == "won" {
			tickets[got.Ticket] = true
		}
	}
	if rows := orders(t, s.db, it.ID); len(rows) != 100 || len(tickets) != 100 {
		t.Errorf("%d orders and %d tickets that have won, want 100", len(rows), len(tickets))
	}
	s.emptyLine(it.ID)
	s.mustHold()
}

// TestOneBuyerOnTwoInstances: 200 clicks of one buyer over both instances are one ticket, and one order.
func TestOneBuyerOnTwoInstances(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})
	buyers := make([]string, 200)
	for n := range buyers {
		buyers[n] = "keen"
	}
	held := accepted(t, herd(t, s.program, it.ID, buyers), "already_bought")
	for n, got := range s.verdicts(held) {
		if got.Status != "won" || got.Ticket != held[0].ticket.Ticket {
			t.Errorf("click %d ended as %+v, the first as %s", n, got, held[0].ticket.Ticket)
		}
	}
	if rows := orders(t, s.db, it.ID); len(rows) != 1 || rows[0].quantity != 1 {
		t.Errorf("SQL has %+v", rows)
	}

	t.Run("ids are compared byte by byte", func(t *testing.T) { s.buyersAreBytes(t) })
	t.Run("the gate of every instance obeys at once", func(t *testing.T) { s.everyGateObeys(t) })
	s.mustHold()
}

// buyersAreBytes lets buyers buy whose ids a usual collation would hold for one.
func (s *shop) buyersAreBytes(t *testing.T) {
	it := s.admin().publish(map[string]any{"stock": 100})
	alike := []string{"abc", "ABC", "aBc", "abc.", "ab", "abc%20", "%61bc"}
	log := s.insistAll(it.ID, alike)
	if won := s.mustAddUp(it.ID, log, s.verdicts(accepted(t, log))); won != len(alike) {
		t.Errorf("%d of %d won", won, len(alike))
	}
	for n, line := range log {
		stranger := s.buyer(nil, alike[(n+1)%len(alike)])
		stranger.get("/api/v1/tickets/"+line.ticket.Ticket).wantCode(t, http.StatusNotFound, "not_found")
		s.buyer(nil, line.buyer).buy(it.ID, 0).wantCode(t, http.StatusConflict, "already_bought")
	}
	s.buyer(nil, "àbc").buy(it.ID, 0).wantCode(t, http.StatusUnauthorized, "unauthenticated")
}

// everyGateObeys switches the sale at one instance and clicks at the other the moment it has said yes.
func (s *shop) everyGateObeys(t *testing.T) {
	it := s.admin().publish(map[string]any{"stock": 1000})
	for n, name := range names("switch", 20) {
		here, there := s.at(s.apps[n%2]), s.at(s.apps[(n+1)%2])
		here.admin().act(it.ID, "pause")
		there.buyer(nil, name).buy(it.ID, 0).wantCode(t, http.StatusConflict, "paused")
		here.admin().act(it.ID, "resume")
		there.buyer(nil, name).buy(it.ID, 0).want(t, http.StatusAccepted)
	}
	s.emptyLine(it.ID)

	scarce := s.admin().publish(map[string]any{"stock": 1})
	first := s.insistAll(scarce.ID, []string{"first"})
	s.verdicts(first)
	for n, name := range names("more", 5) {
		here, there := s.at(s.apps[n%2]), s.at(s.apps[(n+1)%2])
		there.buyer(nil, name).buy(scarce.ID, 0).wantCode(t, http.StatusConflict, "sold_out")
		here.admin().json("POST", "/api/v1/admin/items/"+scarce.ID+"/stock", `{"delta":1,"reason":"found one"}`).want(t, http.StatusOK)
		raised := time.Now()
		eventually(t, 2*time.Second, "the other instance sells again", func() bool {
			a := there.buyer(nil, name).buy(scarce.ID, 0)
			return a.status == http.StatusAccepted
		})
		t.Logf("the other instance sold again after %s", time.Since(raised).Round(time.Millisecond))
		s.emptyLine(scarce.ID)
	}
}

// TestTimeZones: instances and MariaDB with clocks on three sides of the date line agree on when a sale opens, when it
// ends and until when an order can be paid.
func TestTimeZones(t *testing.T) {
	t.Setenv("TZ", "Pacific/Kiritimati")
	s := openShop(t, plan{maria: []string{"--default-time-zone=-11:00"}})
	opens, ends := time.Now().Add(2*time.Second).UTC(), time.Now().Add(4*time.Second).UTC()
	it := s.admin().publish(map[string]any{"stock": 5, "pay_within": 900,
		"starts_at": opens.Format(time.RFC3339Nano), "ends_at": ends.Format(time.RFC3339Nano)})
	if at := millis(t, it.StartsAt); at != opens.UnixMilli() {
		t.Errorf("the sale opens at %d, not %d", at, opens.UnixMilli())
	}
	s.buyer(nil, "early").buy(it.ID, 0).wantCode(t, http.StatusConflict, "not_started")
	eventually(t, 4*time.Second, "the sale is open", func() bool {
		return s.buyer(nil, "early").buy(it.ID, 0).status == http.StatusAccepted
	})
	if late := time.Since(opens); late < 0 || late > time.Second {
		t.Errorf("the sale opened %s after its time", late)
	}
	s.emptyLine(it.ID)
	var created, expires int64
	if err := s.db.QueryRow("SELECT created_at, expires_at FROM orders").Scan(&created, &expires); err != nil {
		t.Fatal(err)
	}
	if age := time.Since(time.UnixMilli(created)); age < -time.Second || age > 10*time.Second || expires-created != 900_000 {
		t.Errorf("an order of just now was made %s ago and can be paid for %d ms", age, expires-created)
	}
	eventually(t, 5*time.Second, "the sale has ended", func() bool { return s.admin().item(it.ID).Phase == "ended" })
	s.buyer(nil, "late").buy(it.ID, 0).wantCode(t, http.StatusConflict, "ended")
	if late := time.Since(ends); late < 0 || late > time.Second {
		t.Errorf("the sale ended %s after its time", late)
	}
	s.mustHold()
}

// TestLostAnswersToCommit: MariaDB commits and nobody hears of it, again and again. Each ticket has one verdict and each
// winner one order.
func TestLostAnswersToCommit(t *testing.T) {
	t.Parallel()
	var cut func(text string)
	s := openShop(t, plan{proxy: func(addr string) string {
		p := newCutter(t, addr)
		cut = p.CutReplies
		return p.Address()
	}})
	for range 3 {
		it := s.admin().publish(map[string]any{"stock": 200})
		stop := every(t, 60*time.Millisecond, func(n int) { cut([]string{"COMMIT", ""}[n%2]) })
		held := accepted(t, s.insistAll(it.ID, names("buyer", 300)), "sold_out")
		told := s.verdicts(held)
		stop()
		cut("")
		if won := s.mustAddUp(it.ID, held, told, "sold_out"); won != 200 {
			t.Errorf("%d won, want 200", won)
		}
		mustBeFirstCome(t, told)
		s.mustStay(held, told)
	}
	lost := 0
	for _, app := range s.apps {
		lost += strings.Count(app.stderr.tail(1<<20), "connection")
	}
	t.Logf("the instances complain %d times of a connection", lost)
	s.mustHold()
}
