package main_test

import (
	"cmp"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

const (
	// rounds is how often the program is killed with enough tickets undecided.
	rounds = 12
	// leastUndecided is how many tickets a kill has to leave accepted and undecided.
	leastUndecided = 100
)

// TestKill kills the program over and over at random moments of a sale, each time with at least a hundred tickets
// accepted and undecided, and starts it again on the same data: every ticket ends in one verdict, first come, first
// served, and it never changes again.
func TestKill(t *testing.T) {
	t.Parallel()
	p := start(t)
	var held []click
	var told []ticket
	for round, attempt := 0, 0; round < rounds; attempt++ {
		if attempt == 5*rounds {
			t.Fatalf("only %d of %d kills left %d tickets undecided", round, attempt, leastUndecided)
		}
		itemID, log := p.killDuring(attempt)
		undecided := p.undecided(itemID, log)
		p.launch()
		held, told = append(held, log...), append(told, p.settleRound(itemID, log)...)
		t.Logf("kill %d: %d tickets accepted, %d undecided", attempt+1, len(log), undecided)
		if undecided >= leastUndecided {
			round++
		}
	}
	for n, again := range p.verdicts(held) {
		if again.Status != told[n].Status {
			t.Errorf("%s was told %q, and later %q", held[n].buyer, told[n].Status, again.Status)
		}
	}
	p.mustHold()
}

// killDuring lets a crowd click and kills the program in one of three ways: in the middle of the clicks, while a line
// waits in a pause, or soon after the pause has ended, when batches are being decided. It returns the item and its accepted
// clicks.
func (p *program) killDuring(attempt int) (itemID string, held []click) {
	p.t.Helper()
	switch attempt % 3 {
	case 0:
		itemID = p.admin().publish(map[string]any{"stock": 700}).ID
		log, accepted := p.rush(itemID, 900)
		after := leastUndecided + rand.IntN(600)
		for range after {
			if _, ok := <-accepted; !ok {
				break
			}
		}
		p.kill()
		return itemID, log()
	case 1:
		itemID, held = p.holdLine(leastUndecided)
		p.kill()
	default:
		itemID, held = p.holdLine(2 * leastUndecided)
		p.admin().act(itemID, "resume")
		<-time.After(time.Duration(rand.IntN(10_000)) * time.Microsecond)
		p.kill()
	}
	return itemID, held
}

// rush lets n new buyers click at once. The channel has one element for each accepted click and is closed at the end;
// log waits for the end and returns the clicks that were accepted. Clicks without an answer are left out.
func (p *program) rush(itemID string, n int) (log func() []click, accepted <-chan struct{}) {
	tr := crowd(p.t)
	told := make(chan struct{}, n)
	lines := make([]click, n)
	var done sync.WaitGroup
	for i, id := range names("rush-"+itemID, n) {
		done.Go(func() {
			a, err := p.buyer(tr, id).tryBuy(itemID, 0)
			if err == nil && a.status == http.StatusAccepted {
				lines[i] = click{buyer: id, answer: a}
				told <- struct{}{}
			}
		})
	}
	go func() { done.Wait(); close(told) }()
	return func() []click {
		done.Wait()
		var got []click
		for _, line := range lines {
			if line.buyer != "" {
				line.ticket = decode[ticket](p.t, line.answer)
				got = append(got, line)
			}
		}
		return got
	}, told
}

// holdLine publishes an item and pauses it in the middle of a rush, with at least so many tickets undecided. It returns
// the paused item and every click accepted, by number: the last ones are undecided.
func (p *program) holdLine(least int64) (itemID string, held []click) {
	p.t.Helper()
	admin := p.admin()
	for range 20 {
		itemID = admin.publish(map[string]any{"stock": 700}).ID
		log, accepted := p.rush(itemID, 700)
		for range 1 + rand.IntN(300) {
			<-accepted
		}
		admin.act(itemID, "pause")
		held = log()
		slices.SortFunc(held, func(a, b click) int { return cmp.Compare(a.ticket.Seq, b.ticket.Seq) })
		if admin.item(itemID).Queued >= least {
			return itemID, held
		}
	}
	p.t.Fatalf("no pause has caught %d tickets undecided", least)
	return "", nil
}

// undecided is how many of the accepted tickets SQL had not decided when the program was killed.
func (p *program) undecided(itemID string, held []click) int {
	p.t.Helper()
	db := p.database()
	defer db.Close()
	decided, n := itemInSQL(p.t, db, itemID).decided, 0
	for _, line := range held {
		if line.ticket.Seq > decided {
			n++
		}
	}
	return n
}

// settleRound waits for every accepted ticket's verdict after a restart and checks them against each other and SQL.
func (p *program) settleRound(itemID string, held []click) []ticket {
	t := p.t
	t.Helper()
	admin := p.admin()
	if admin.item(itemID).Phase == "paused" {
		admin.act(itemID, "resume")
	}
	told := p.verdicts(held)
	numbers := map[int64]string{}
	lastWon, firstLost := int64(0), int64(1<<62)
	for n, got := range told {
		if other, twice := numbers[got.Seq]; twice || got.Seq != held[n].ticket.Seq {
			t.Errorf("number %d was given to %s and %s", got.Seq, other, held[n].buyer)
		}
		numbers[got.Seq] = held[n].buyer
		switch got.Status {
		case "won":
			lastWon = max(lastWon, got.Seq)
		case "sold_out":
			firstLost = min(firstLost, got.Seq)
		default:
			t.Errorf("%s was told %q", held[n].buyer, got.Status)
		}
	}
	if lastWon > firstLost {
		t.Errorf("number %d won and number %d before it did not", lastWon, firstLost)
	}
	eventually(t, 20*time.Second, "the line is empty", func() bool { return admin.item(itemID).Queued == 0 })
	p.matchOrders(itemID, held, told)
	return told
}

// matchOrders checks that a ticket has an order in SQL if and only if its buyer was told so.
func (p *program) matchOrders(itemID string, held []click, told []ticket) {
	p.t.Helper()
	db := p.database()
	defer db.Close()
	bySeq := map[int64]sold{}
	for _, row := range orders(p.t, db, itemID) {
		if other, twice := bySeq[row.seq]; twice {
			p.t.Errorf("number %d has two orders: %+v %+v", row.seq, other, row)
		}
		bySeq[row.seq] = row
	}
	for n, got := range told {
		row, ordered := bySeq[got.Seq]
		if ordered != (got.Status == "won") || ordered && row.buyer != held[n].buyer {
			p.t.Errorf("%s was told %q of number %d, SQL has %+v", held[n].buyer, got.Status, got.Seq, row)
		}
	}
	if row := itemInSQL(p.t, db, itemID); row.available < 0 || row.stock != row.available+int64(len(bySeq)) {
		p.t.Errorf("stock is %+v with %d orders", row, len(bySeq))
	}
}
