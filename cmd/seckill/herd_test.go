package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// click is one line of the client's own log.
type click struct {
	buyer    string
	sent     time.Time // just before the request went on the wire
	answered time.Time
	answer   answer
	err      error
	ticket   ticket // of a 202
}

// herd lets all buyers click at once, each over a connection of its own that is open already, and returns the log.
func herd(t *testing.T, p *program, itemID string, buyers []string) []click {
	t.Helper()
	log, conns := make([]click, len(buyers)), make([]net.Conn, len(buyers))
	var connected, answered sync.WaitGroup
	for n := range buyers {
		connected.Go(func() { conns[n], log[n].err = p.connect() })
	}
	connected.Wait()
	for n, id := range buyers {
		if log[n].err != nil {
			t.Fatalf("connect: %v", log[n].err)
		}
		defer conns[n].Close()
		log[n].buyer = id
		answered.Go(func() {
			log[n].answer, log[n].err = readAnswer(conns[n])
			log[n].answered = time.Now()
		})
	}
	sent := make([]time.Time, len(buyers)) // the readers write to the log already
	for n, id := range buyers {
		request := "POST /api/v1/items/" + itemID + "/buy HTTP/1.1\r\nHost: shop\r\nX-Buyer-ID: " + id + "\r\nContent-Length: 0\r\n\r\n"
		sent[n] = time.Now()
		if _, err := io.WriteString(conns[n], request); err != nil {
			t.Fatalf("click: %v", err)
		}
	}
	answered.Wait()
	for n := range log {
		if log[n].sent = sent[n]; log[n].err != nil {
			t.Fatalf("buyer %s got no answer: %v", log[n].buyer, log[n].err)
		}
		if log[n].answer.status == http.StatusAccepted {
			log[n].ticket = decode[ticket](t, log[n].answer)
		}
	}
	return log
}

// connect is a connection that the program has taken and answered on.
func (p *program) connect() (net.Conn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: shop\r\n\r\n"); err != nil {
		return nil, err
	}
	_, err = readAnswer(conn)
	return conn, err
}

// readAnswer reads one answer within a minute.
func readAnswer(conn net.Conn) (answer, error) {
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return answer{}, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, b}, err
}

// names is n different buyers.
func names(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s-%d", prefix, i+1)
	}
	return all
}

// TestHerd: 2,000 buyers click on 100 units within a second. Exactly the 100 who came first get one each, the other
// 1,900 are told so, and nobody is served out of turn.
func TestHerd(t *testing.T) {
	p := start(t)
	admin := p.admin()
	it := admin.publish(map[string]any{"stock": 100})

	log := herd(t, p, it.ID, names("buyer", 2000))
	mustBeWithin(t, log, time.Second)
	mustBeInTurn(t, log)

	winners, losers := map[int64]string{}, 0
	var accepted []click
	for _, line := range log {
		if line.answer.status == http.StatusAccepted {
			accepted = append(accepted, line)
			continue
		}
		line.answer.wantCode(t, http.StatusConflict, "sold_out")
		losers++
	}
	for n, got := range p.verdicts(accepted) {
		switch got.Status {
		case "won":
			winners[got.Seq] = accepted[n].buyer
			if got.Order == nil || got.Order.Quantity != 1 || got.Order.Amount.Amount != 1990 {
				t.Errorf("%s won with the order %+v", accepted[n].buyer, got.Order)
			}
		case "sold_out":
			losers++
		default:
			t.Errorf("%s was told %q", accepted[n].buyer, got.Status)
		}
	}
	if len(winners) != 100 || losers != 1900 {
		t.Errorf("%d won and %d lost, want 100 and 1900", len(winners), losers)
	}
	mustMatchSQL(t, p, it.ID, winners)
	if got := admin.item(it.ID); got.Available != 0 || got.Phase != "sold_out" || got.Queued != 0 {
		t.Errorf("after the herd the item is %+v", got)
	}
	p.mustHold()
}

// mustBeWithin checks that all clicks were on the wire within the span.
func mustBeWithin(t *testing.T, log []click, span time.Duration) {
	t.Helper()
	first, last := log[0].sent, log[0].sent
	for _, line := range log {
		if line.sent.Before(first) {
			first = line.sent
		}
		if line.sent.After(last) {
			last = line.sent
		}
	}
	t.Logf("%d clicks within %s", len(log), last.Sub(first).Round(time.Millisecond))
	if last.Sub(first) > span {
		t.Errorf("the clicks took %s to send: too slow to be a herd", last.Sub(first))
	}
}

// mustBeInTurn checks the tickets' numbers against the client's own log: no number twice, none left out, and a click
// that was answered before another was sent has the lower number.
func mustBeInTurn(t *testing.T, log []click) {
	t.Helper()
	accepted := slices.DeleteFunc(slices.Clone(log), func(line click) bool { return line.ticket.Seq == 0 })
	bySent := slices.Clone(accepted)
	slices.SortFunc(bySent, func(a, b click) int { return a.sent.Compare(b.sent) })
	slices.SortFunc(accepted, func(a, b click) int { return a.answered.Compare(b.answered) })
	seen := map[int64]bool{}
	highest, n := int64(0), 0 // of the numbers answered before the present click was sent
	for _, line := range bySent {
		for n < len(accepted) && accepted[n].answered.Before(line.sent) {
			highest = max(highest, accepted[n].ticket.Seq)
			n++
		}
		if line.ticket.Seq <= highest {
			t.Errorf("%s clicked after number %d was answered, and got %d", line.buyer, highest, line.ticket.Seq)
		}
		if seen[line.ticket.Seq] {
			t.Errorf("number %d was given twice", line.ticket.Seq)
		}
		seen[line.ticket.Seq] = true
	}
	for seq := int64(1); seq <= int64(len(seen)); seq++ {
		if !seen[seq] {
			t.Errorf("number %d of %d was given to nobody", seq, len(seen))
		}
	}
}

// mustMatchSQL checks that SQL has exactly the orders of the winners, and that they are the lowest numbers.
func mustMatchSQL(t *testing.T, p *program, itemID string, winners map[int64]string) {
	t.Helper()
	rows := orders(t, p.database(), itemID)
	if len(rows) != len(winners) {
		t.Errorf("SQL has %d orders, %d buyers were told that they won", len(rows), len(winners))
	}
	for n, row := range rows {
		if row.seq != int64(n+1) {
			t.Errorf("order %d has number %d: not the lowest numbers won", n+1, row.seq)
		}
		if winners[row.seq] != row.buyer || row.quantity != 1 || row.status != "pending" {
			t.Errorf("number %d is of %q by the client's log, SQL has %+v", row.seq, winners[row.seq], row)
		}
	}
}

// TestOneBuyerManyClicks: 200 parallel clicks of one buyer are one ticket and 200 equal answers, and 1,000 burn no stock.
func TestOneBuyerManyClicks(t *testing.T) {
	t.Parallel()
	p := start(t)
	admin := p.admin()

	t.Run("200 while in line", func(t *testing.T) {
		itemID, held := p.holdLine(1)
		first := held[len(held)-1].ticket
		for _, line := range herd(t, p, itemID, slices.Repeat([]string{held[len(held)-1].buyer}, 200)) {
			line.answer.want(t, http.StatusAccepted)
			if line.ticket.Ticket != first.Ticket || line.ticket.Seq != first.Seq || line.ticket.Status != "queued" {
				t.Fatalf("two answers to one buyer: %+v and %+v", first, line.ticket)
			}
		}
		admin.act(itemID, "resume")
	})
	t.Run("200 while the seller works", func(t *testing.T) {
		it := admin.publish(map[string]any{"stock": 100})
		mustBeOneOrder(t, p, it.ID, "keen", herd(t, p, it.ID, slices.Repeat([]string{"keen"}, 200)))
	})
	t.Run("1,000 burn no stock", func(t *testing.T) {
		it := admin.publish(map[string]any{"stock": 2})
		mustBeOneOrder(t, p, it.ID, "greedy", herd(t, p, it.ID, slices.Repeat([]string{"greedy"}, 1000)))
		a := p.buyer(nil, "modest").buy(it.ID, 0)
		a.want(t, http.StatusAccepted)
		if got := p.buyer(nil, "modest").verdict(decode[ticket](t, a).Ticket, 10*time.Second); got.Status != "won" {
			t.Errorf("the next buyer was told %q", got.Status)
		}
	})
	p.mustHold()
}

// mustBeOneOrder checks that every click of one buyer was answered with one ticket or with the order that it won.
func mustBeOneOrder(t *testing.T, p *program, itemID, buyer string, log []click) {
	t.Helper()
	tickets := map[string]bool{}
	for _, line := range log {
		if line.answer.status == http.StatusAccepted {
			tickets[line.ticket.Ticket] = true
			continue
		}
		line.answer.wantCode(t, http.StatusConflict, "already_bought")
	}
	if len(tickets) != 1 {
		t.Fatalf("%d tickets of one buyer", len(tickets))
	}
	for public := range tickets {
		if got := p.buyer(nil, buyer).verdict(public, 10*time.Second); got.Status != "won" {
			t.Errorf("the ticket ended as %q", got.Status)
		}
	}
	rows := orders(t, p.database(), itemID)
	if len(rows) != 1 || rows[0].buyer != buyer || rows[0].quantity != 1 {
		t.Errorf("SQL has %+v", rows)
	}
}

// TestEarlyAndLate: clicks before the start and after the end are refused, leave no mark and no row, and an early
// buyer's first click after the start is as good as any.
func TestEarlyAndLate(t *testing.T) {
	t.Parallel()
	p := start(t)
	admin, buyer := p.admin(), p.buyer(nil, "early-bird")

	opens := time.Now().Add(3 * time.Second).UTC()
	it := admin.publish(map[string]any{"stock": 1, "starts_at": opens.Format(time.RFC3339Nano)})
	before := fingerprint(t, p.database())
	for time.Until(opens) > 300*time.Millisecond {
		buyer.buy(it.ID, 0).wantCode(t, http.StatusConflict, "not_started")
	}
	mustBeUntouched(t, p, before)

	var won ticket
	eventually(t, 10*time.Second, "the click at the start is accepted", func() bool {
		a := buyer.buy(it.ID, 0)
		if a.status == http.StatusConflict {
			a.wantCode(t, http.StatusConflict, "not_started")
			return false
		}
		a.want(t, http.StatusAccepted)
		won = decode[ticket](t, a)
		return true
	})
	if won.Seq != 1 {
		t.Errorf("the first click after the start has number %d", won.Seq)
	}
	if got := buyer.verdict(won.Ticket, 10*time.Second); got.Status != "won" {
		t.Errorf("the early bird was told %q", got.Status)
	}

	ends := time.Now().Add(500 * time.Millisecond).UTC()
	short := admin.publish(map[string]any{"ends_at": ends.Format(time.RFC3339Nano)})
	eventually(t, 10*time.Second, "the sale has ended", func() bool { return admin.item(short.ID).Phase == "ended" })
	before = fingerprint(t, p.database())
	for range 20 {
		buyer.buy(short.ID, 0).wantCode(t, http.StatusConflict, "ended")
	}
	mustBeUntouched(t, p, before)
	p.mustHold()
}

// mustBeUntouched checks that no row of any table has changed.
func mustBeUntouched(t *testing.T, p *program, before map[string]string) {
	t.Helper()
	for name, sum := range fingerprint(t, p.database()) {
		if before[name] != sum {
			t.Errorf("table %s has changed: %s, was %s", name, sum, before[name])
		}
	}
}

// TestQuantity: a ticket for several units takes them all or none, and one that asks for more than is left loses to the
// next in line.
func TestQuantity(t *testing.T) {
	t.Parallel()
	p := start(t)
	it := p.admin().publish(map[string]any{"stock": 5, "per_buyer_limit": 3})

	for _, step := range []struct {
		buyer    string
		quantity int
		status   string
	}{
		{"a", 3, "won"}, {"b", 3, "sold_out"}, {"c", 2, "won"},
	} {
		c := p.buyer(nil, step.buyer)
		a := c.buy(it.ID, step.quantity)
		a.want(t, http.StatusAccepted)
		got := c.verdict(decode[ticket](t, a).Ticket, 10*time.Second)
		if got.Status != step.status || got.Quantity != step.quantity {
			t.Errorf("%s asked for %d and was told %+v", step.buyer, step.quantity, got)
		}
		if got.Order != nil && got.Order.Amount.Amount != int64(1990*step.quantity) {
			t.Errorf("%d units cost %+v", step.quantity, got.Order.Amount)
		}
	}
	for _, quantity := range []int{-1, 4, 1_000_000_000} {
		problem := p.buyer(nil, "d").buy(it.ID, quantity).wantCode(t, http.StatusUnprocessableEntity, "invalid")
		if problem.Errors["quantity"] == "" {
			t.Errorf("quantity %d: the problem does not name it: %+v", quantity, problem)
		}
	}
	p.buyer(nil, "d").buy(it.ID, 1).wantCode(t, http.StatusConflict, "sold_out")
	p.mustHold()
}
