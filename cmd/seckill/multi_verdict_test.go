package main_test

import (
	"net/http"
	"slices"
	"testing"
)

// accepted is the clicks that were answered with a ticket; every other has to be a conflict with one of the codes.
func accepted(t *testing.T, log []click, codes ...string) []click {
	t.Helper()
	var got []click
	for _, line := range log {
		if line.answer.status == http.StatusAccepted {
			got = append(got, line)
			continue
		}
		if p := line.answer.problem(); line.answer.status != http.StatusConflict || !slices.Contains(codes, p.Code) {
			t.Errorf("%s was answered %d %.300s", line.buyer, line.answer.status, line.answer.body)
		}
	}
	return got
}

// mustAddUp holds what buyers were told against SQL: a ticket has an order if and only if it has won, of its own buyer;
// no number and no buyer has two; a ticket that has not won was told one of the other words; no unit is sold twice.
func (s *shop) mustAddUp(itemID string, log []click, told []ticket, losses ...string) (won int) {
	t := s.t
	t.Helper()
	rows := orders(t, s.db, itemID)
	byTicket, bySeq, byBuyer := map[[2]int64]sold{}, map[int64]sold{}, map[string]sold{}
	for _, row := range rows {
		if other, twice := bySeq[row.seq]; twice {
			t.Errorf("number %d has two orders: %+v %+v", row.seq, other, row)
		}
		if other, twice := byBuyer[row.buyer]; twice {
			t.Errorf("buyer %s has two orders: %+v %+v", row.buyer, other, row)
		}
		byTicket[[2]int64{row.epoch, row.seq}], bySeq[row.seq], byBuyer[row.buyer] = row, row, row
	}
	given := map[[2]int64]string{}
	for n, got := range told {
		key := [2]int64{log[n].ticket.Epoch, log[n].ticket.Seq}
		if other, twice := given[key]; twice && other != log[n].buyer {
			t.Errorf("number %v was given to %s and %s", key, other, log[n].buyer)
		}
		given[key] = log[n].buyer
		row, ordered := byTicket[key]
		switch {
		case got.Status == "won":
			won++
			if !ordered || row.buyer != log[n].buyer || got.Order == nil || got.Order.No != row.no {
				t.Errorf("%s was told that %v has won, SQL has %+v, the ticket %+v", log[n].buyer, key, row, got.Order)
			}
		case ordered:
			t.Errorf("%s was told %q of %v, SQL has %+v", log[n].buyer, got.Status, key, row)
		case !slices.Contains(losses, got.Status):
			t.Errorf("%s was told %q", log[n].buyer, got.Status)
		}
	}
	if row := itemInSQL(t, s.db, itemID); row.available < 0 || row.stock != row.available+int64(len(rows)) {
		t.Errorf("stock is %+v with %d orders", row, len(rows))
	}
	return won
}

// mustBeFirstCome checks that no number has lost before one that has won.
func mustBeFirstCome(t *testing.T, told []ticket) {
	t.Helper()
	lastWon, firstLost := int64(0), int64(1<<62)
	for _, got := range told {
		if got.Status == "won" {
			lastWon = max(lastWon, got.Seq)
		} else {
			firstLost = min(firstLost, got.Seq)
		}
	}
	if lastWon > firstLost {
		t.Errorf("number %d won and number %d before it did not", lastWon, firstLost)
	}
}

// mustStay asks for every ticket again and fails the test where the answer is another than before.
func (s *shop) mustStay(log []click, told []ticket) {
	s.t.Helper()
	for n, again := range s.verdicts(log) {
		before := told[n]
		if again.Status != before.Status || (again.Order == nil) != (before.Order == nil) ||
			again.Order != nil && again.Order.No != before.Order.No {
			s.t.Errorf("%s was told %s %+v, and later %s %+v", log[n].buyer, before.Status, before.Order, again.Status, again.Order)
		}
	}
}
