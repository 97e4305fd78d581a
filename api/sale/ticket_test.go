package sale_test

import (
	"context"
	"encoding/json"
	"testing"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

func TestTicketIsItsBuyersOnly(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	v := s.buy(t, item, "a")
	got, err := s.Ticket(ctx, v.Ticket, "a")
	must(t, err)
	if got != v {
		t.Errorf("looked up %+v, was told %+v", got, v)
	}
	for _, settled := range []bool{false, true} {
		if settled {
			s.sell(t, item)
		}
		for _, c := range []struct {
			ticket string
			buyer  model.Buyer
		}{{v.Ticket, "b"}, {v.Ticket, "A"}, {v.Ticket, "a "}, {v.Ticket[:len(v.Ticket)-1], "a"}, {"1-1-1-x", "a"}, {"", "a"}} {
			_, err := s.Ticket(ctx, c.ticket, c.buyer)
			wantErr(t, err, model.ErrNotFound)
		}
	}
}

// TestTicketLookUp has a winner and a loser whose verdicts SQL knows, and a ticket that SQL does not know, each under
// everything that the queue may say.
func TestTicketLookUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	winner := s.raw(t, s.buy(t, item, "winner"), "winner")
	loser := s.raw(t, s.buy(t, item, "loser"), "loser")
	s.sell(t, item)
	nobody := model.Ticket{Item: item, Epoch: 1, Seq: 99, Quantity: 1, Buyer: "nobody"}
	decided := func(v model.Verdict) queue.Place { return queue.Place{State: queue.Decided, Verdict: v} }
	for _, c := range []struct {
		name   string
		ticket model.Ticket
		place  queue.Place
		err    error
		want   string // empty: no answer
	}{
		{"queued", nobody, queue.Place{State: queue.Queued, Ahead: 3}, nil, "queued"},
		{"a loss", nobody, decided(model.Ended), nil, "ended"},
		{"a win with its order", winner, decided(model.Won), nil, "won"},
		{"a win whose order SQL does not show", nobody, decided(model.Won), nil, ""},
		{"gone, with an order", winner, queue.Place{State: queue.Gone, Epoch: 1}, nil, "won"},
		{"gone, with a decision", loser, queue.Place{State: queue.Gone, Epoch: 1}, nil, "sold_out"},
		{"gone in SQL's epoch", nobody, queue.Place{State: queue.Gone, Epoch: 1}, nil, "lost"},
		{"gone in an epoch that SQL is not in", nobody, queue.Place{State: queue.Gone, Epoch: 2}, nil, ""},
		{"unknown, with an order", winner, queue.Place{State: queue.Unknown, Epoch: 1}, nil, "won"},
		{"unknown, with a decision", loser, queue.Place{State: queue.Unknown, Epoch: 1}, nil, "sold_out"},
		{"unknown to both", nobody, queue.Place{State: queue.Unknown, Epoch: 1}, nil, ""},
		{"not installed, with an order", winner, queue.Place{}, queue.ErrMissing, "won"},
		{"not installed, unknown to SQL", nobody, queue.Place{}, queue.ErrMissing, ""},
		{"an outage", winner, queue.Place{}, errDown, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A desk of its own, which remembers no verdict.
			q := &moody{Queue: s.queue.Queue, look: func(model.Ticket) (queue.Place, error) { return c.place, c.err }}
			desk := s.again(q)
			got, err := desk.Follow(ctx, c.ticket)
			if c.want == "" {
				wantErr(t, err, model.ErrUnavailable)
				return
			}
			must(t, err)
			if got.Status != c.want || (got.Order != nil) != (c.want == "won") || got.Ahead != c.place.Ahead || got.ServerTime != s.at() {
				t.Errorf("shown %+v, want %s", got, c.want)
			}
		})
	}
}

func TestVerdictIsRememberedAndOrderReadAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	winner, loser := s.buy(t, item, "winner"), s.buy(t, item, "loser")
	s.sell(t, item)
	for _, c := range []struct {
		ticket string
		buyer  model.Buyer
		want   string
	}{{winner.Ticket, "winner", "won"}, {loser.Ticket, "loser", "sold_out"}} {
		for range 2 {
			got, err := s.Ticket(ctx, c.ticket, c.buyer)
			must(t, err)
			if got.Status != c.want {
				t.Errorf("%s reads %s", c.buyer, got.Status)
			}
			s.queue.look = func(model.Ticket) (queue.Place, error) { return queue.Place{}, errDown }
		}
		s.queue.look = nil
	}
	must(t, s.store.Close())
	_, err := s.Ticket(ctx, winner.Ticket, "winner")
	wantErr(t, err, model.ErrUnavailable)
	_, err = s.Ticket(ctx, loser.Ticket, "loser")
	must(t, err)
}

func TestTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 2)
	winner := s.raw(t, s.buy(t, item, "winner"), "winner")
	_, err := s.Told(ctx, queue.Told{Ticket: winner, Verdict: model.Won})
	wantErr(t, err, model.ErrUnavailable) // not decided in SQL: a win is never told without its order
	s.sell(t, item)
	for _, c := range []struct {
		ticket    model.Ticket
		verdict   model.Verdict
		wantOrder bool
	}{
		{winner, model.Won, true},
		{model.Ticket{Item: item, Epoch: 1, Seq: 2, Buyer: "loser"}, model.SoldOut, false},
	} {
		v, err := s.Told(ctx, queue.Told{Ticket: c.ticket, Verdict: c.verdict})
		must(t, err)
		if v.Status != c.verdict.String() || (v.Order != nil) != c.wantOrder {
			t.Errorf("told %+v of %v", v, c.verdict)
		}
	}
}

func TestDuplicateShowsTheBuyersOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 5)
	first := s.raw(t, s.buy(t, item, "b"), "b")
	s.sell(t, item)
	must(t, s.queue.Unmark(ctx, first)) // as if the marks had been lost
	v := s.buy(t, item, "b")
	s.sell(t, item)
	got, err := s.Ticket(ctx, v.Ticket, "b")
	must(t, err)
	page, err := s.Orders(ctx, "b", item, "", 50)
	must(t, err)
	if got.Status != "duplicate" || got.Order == nil || len(page.Rows) != 1 || got.Order.No != page.Rows[0].No {
		t.Errorf("duplicate %+v, orders %+v", got, page.Rows)
	}
}

func TestTicketAppendsWhatJSONMarshals(t *testing.T) {
	t.Parallel()
	order := sale.ViewOrder(model.Order{No: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Item: 5, Title: "</script>\u2028é\"", Quantity: 2,
		Amount: model.Money{Amount: 7, Currency: "JPY"}, Status: model.OrderPending, CreatedAt: 1_700_000_000_123})
	for _, v := range []sale.TicketView{
		{},
		{Ticket: "9-1-7-AAE", ItemID: 9, Epoch: 1, Seq: 7, Quantity: 2, Ahead: 5, Status: "queued", ServerTime: 1_700_000_000_000},
		{Ticket: "9-1-7-AAE", ItemID: 9, Status: "won", Order: &order},
	} {
		want, err := json.Marshal(v)
		must(t, err)
		got, err := v.AppendJSON(nil)
		must(t, err)
		if string(got) != string(want) {
			t.Errorf("appended %s\nmarshals %s", got, want)
		}
	}
}
