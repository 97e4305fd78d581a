package sale_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

var alreadyBought = &model.Error{Code: model.CodeAlreadyBought}

func TestBuyAnswersInOrder(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.publish(t, 1)
	refused := func(buyer model.Buyer, quantity int, want error) {
		t.Helper()
		_, err := s.Buy(ctx, item, buyer, quantity)
		wantErr(t, err, want)
	}
	invalid := &model.Error{Code: model.CodeInvalid}
	refused("early", 3, invalid)
	refused("early", 1, model.ErrNotStarted)
	_, err := s.Buy(ctx, item+1, "early", -1)
	wantErr(t, err, invalid)
	_, err = s.Buy(ctx, item+1, "early", 1)
	wantErr(t, err, model.ErrNotFound)

	s.pass(time.Hour)
	first := s.buy(t, item, "winner")
	if first.Status != sale.StatusQueued || first.Ahead != 0 || first.Seq != 1 || first.Quantity != 1 || first.ServerTime != s.at() {
		t.Errorf("first ticket %+v", first)
	}
	waiting := s.buy(t, item, "waiting")
	if waiting.Ahead != 1 {
		t.Errorf("second ticket has %d ahead", waiting.Ahead)
	}
	_, err = s.Pause(ctx, item)
	must(t, err)
	refused("late", 1, model.ErrPaused)
	again, err := s.Buy(ctx, item, "waiting", 2)
	must(t, err)
	if again.Ticket != waiting.Ticket || again.Quantity != 1 {
		t.Errorf("a second click got %+v, not its first ticket", again)
	}
	_, err = s.Resume(ctx, item)
	must(t, err)
	s.sell(t, item)
	refused("late", 1, model.ErrSoldOut)
	refused("winner", 1, alreadyBought)
	_, err = s.Close(ctx, item)
	must(t, err)
	refused("late", 1, model.ErrEnded)
	_, err = s.Buy(ctx, item, "winner", 1)
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeAlreadyBought || e.Order.Buyer != "winner" {
		t.Errorf("a holder's click after the end: %v", err)
	}
}

func TestBuyReadsNoSQL(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	item := s.open(t, 10)
	s.buy(t, item, "one")
	must(t, s.store.Close())
	s.queue.join = func(c queue.Click) (queue.Answer, error) {
		return queue.Answer{Ticket: model.Ticket{Item: item, Epoch: 1, Seq: 2, Quantity: c.Quantity, Buyer: c.Buyer}}, nil
	}
	s.buy(t, item, "two")
	s.pass(time.Minute) // the item is to be read again, and can not be
	s.buy(t, item, "three")
	_, err := s.Buy(context.Background(), item+1, "four", 1)
	wantErr(t, err, model.ErrUnavailable)
}

func TestAnItemThatWasLookedAtIsSoldWithoutSQL(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	item := s.open(t, 10)
	_, err := s.Item(context.Background(), item)
	must(t, err)
	must(t, s.store.Close())
	s.queue.join = func(c queue.Click) (queue.Answer, error) {
		return queue.Answer{Ticket: model.Ticket{Item: item, Epoch: 1, Seq: 1, Quantity: c.Quantity, Buyer: c.Buyer}}, nil
	}
	s.buy(t, item, "one")
}

func TestBuyAgainAfterMarkIsOutOfDate(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	item := s.open(t, 10)
	marked := queue.Answer{Ticket: model.Ticket{Item: item, Epoch: 1, Seq: 7, Quantity: 1, Buyer: "b"}, Marked: true}
	var unmarked []model.Ticket
	s.queue.unmark = func(ticket model.Ticket) {
		unmarked = append(unmarked, ticket)
		s.queue.join = nil
	}
	s.queue.join = func(queue.Click) (queue.Answer, error) { return marked, nil }
	if v := s.buy(t, item, "b"); v.Status != sale.StatusQueued || len(unmarked) != 1 || unmarked[0] != marked.Ticket {
		t.Errorf("ticket %+v, unmarked %v", v, unmarked)
	}

	clicks := 0
	s.queue.unmark = func(model.Ticket) {}
	s.queue.join = func(queue.Click) (queue.Answer, error) { clicks++; return marked, nil }
	_, err := s.Buy(context.Background(), item, "b", 1)
	wantErr(t, err, model.ErrUnavailable)
	if clicks != 3 {
		t.Errorf("tried %d times", clicks)
	}
}

func TestBuyOfItemThatQueueDoesNotKnow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 2)
	s.buy(t, item, "holder")
	s.sell(t, item)
	must(t, s.queue.Remove(ctx, item))
	for _, c := range []struct {
		buyer model.Buyer
		pass  time.Duration
		want  error
	}{
		{"b", 0, model.ErrUnavailable},
		{"b", 2 * time.Hour, model.ErrUnavailable}, // over, but undecided tickets may still be loaded
		{"b", 25 * time.Hour, model.ErrEnded},
		{"holder", 0, alreadyBought},
	} {
		s.pass(c.pass)
		_, err := s.Buy(ctx, item, c.buyer, 1)
		wantErr(t, err, c.want)
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	standing := func(buyer model.Buyer) (status, order string) {
		t.Helper()
		ticket, o, err := s.Standing(ctx, item, buyer)
		must(t, err)
		if ticket != nil {
			status = ticket.Status
		}
		if o != nil {
			order = string(o.Status)
		}
		return status, order
	}
	check := func(buyer model.Buyer, wantStatus, wantOrder string) {
		t.Helper()
		if status, order := standing(buyer); status != wantStatus || order != wantOrder {
			t.Errorf("%s has ticket %q and order %q, want %q and %q", buyer, status, order, wantStatus, wantOrder)
		}
	}
	check("winner", "", "")
	s.buy(t, item, "winner")
	s.buy(t, item, "loser")
	check("loser", "queued", "")
	s.sell(t, item)
	check("winner", "won", "pending")
	check("loser", "sold_out", "")

	s.queue.find = func() (queue.Place, error) { return queue.Place{}, errDown }
	_, _, err := s.Standing(ctx, item, "winner")
	wantErr(t, err, model.ErrUnavailable)
	s.queue.find = nil

	must(t, s.queue.Remove(ctx, item))
	_, _, err = s.Standing(ctx, item, "winner")
	wantErr(t, err, model.ErrUnavailable)
	s.pass(26 * time.Hour)
	check("winner", "won", "pending")
	check("loser", "", "")
}

func TestOrdersAreTheBuyersOwn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 2)
	s.buy(t, item, "a")
	s.buy(t, item, "b")
	s.sell(t, item)
	page, err := s.Orders(ctx, "a", 0, "", 50)
	must(t, err)
	if len(page.Rows) != 1 {
		t.Fatalf("a has %d orders", len(page.Rows))
	}
	mine, err := s.Order(ctx, "a", page.Rows[0].No)
	must(t, err)
	if mine != page.Rows[0] {
		t.Errorf("order %+v in the list, %+v alone", page.Rows[0], mine)
	}
	_, err = s.Order(ctx, "b", mine.No)
	wantErr(t, err, model.ErrNotFound)
	_, err = s.Orders(ctx, "", 0, "", 50)
	wantErr(t, err, model.ErrNotFound)
}
