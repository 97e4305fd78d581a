package main_test

import (
	"net/http"
	"testing"
	"time"
)

// TestMariaDBIsAway: while MariaDB is dead a click is answered 202 and waits, or 503 where the answer needs SQL; nobody is
// told sold_out, and nobody has won without an order. On its return all who waited are decided in their order.
func TestMariaDBIsAway(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 60})
	holders := s.insistAll(it.ID, names("holder", 10))
	won := s.verdicts(holders)
	s.emptyLine(it.ID)

	s.maria.Kill()
	var held []click
	for _, name := range []string{"a", "b", "c"} {
		for _, line := range herd(t, s.program, it.ID, names(name, 50)) {
			switch line.answer.status {
			case http.StatusAccepted:
				held = append(held, line)
			case http.StatusServiceUnavailable:
				if line.answer.header.Get("Retry-After") == "" {
					t.Error("a 503 without Retry-After")
				}
			default:
				t.Errorf("without MariaDB a click was answered %d %.300s", line.answer.status, line.answer.body)
			}
		}
		<-time.After(700 * time.Millisecond)
	}
	s.buyer(nil, holders[0].buyer).buy(it.ID, 0).wantCode(t, http.StatusServiceUnavailable, "unavailable")
	for _, line := range held[:10] {
		a := s.buyer(nil, line.buyer).get("/api/v1/tickets/" + line.ticket.Ticket)
		a.want(t, http.StatusOK)
		if got := decode[ticket](t, a); got.Status != "queued" {
			t.Errorf("without MariaDB a ticket is %q", got.Status)
		}
	}
	t.Logf("without MariaDB %d of 150 clicks were accepted, the others refused for now", len(held))

	s.maria.Restart(t)
	back := time.Now()
	told := s.verdicts(held)
	t.Logf("all were decided %s after the return of MariaDB", time.Since(back).Round(time.Millisecond))
	if n := s.mustAddUp(it.ID, append(held, holders...), append(told, won...), "sold_out"); n != 60 {
		t.Errorf("%d won, want 60", n)
	}
	mustBeFirstCome(t, told)
	s.mustStay(holders, won)
	s.mustHold()
}
