package sale

import (
	"context"
	"errors"

	"seckill/model"
	"seckill/model/queue"
)

// errNoOrder: the queue knows of a winner whose order SQL does not show. A win is never told without its order.
var errNoOrder = errors.New("sale: a winner without an order")

// errInDoubt: neither the queue nor SQL can say yet what became of a ticket.
var errInDoubt = errors.New("sale: ticket in doubt")

// Ticket looks a ticket up by its public form: the queue first, SQL second. A malformed, forged or foreign one is
// model.ErrNotFound. No answer: model.ErrUnavailable.
func (d *Desk) Ticket(ctx context.Context, ticket string, buyer model.Buyer) (TicketView, error) {
	t, err := d.mac.Parse(ticket, buyer)
	if err != nil {
		return TicketView{}, err
	}
	return d.Follow(ctx, t)
}

// Follow looks up a ticket that this server itself has read from its queue.
func (d *Desk) Follow(ctx context.Context, t model.Ticket) (TicketView, error) {
	if v, ok := d.verdicts.Get(t); ok {
		return d.decided(ctx, t, v)
	}
	place, err := d.queue.Look(ctx, t)
	switch {
	case errors.Is(err, queue.ErrMissing):
		place = queue.Place{State: queue.Unknown}
	case err != nil:
		return TicketView{}, d.shown("look ticket up", err)
	}
	place.Ticket = t
	return d.placed(ctx, place)
}

// Told shows a verdict from the queue. For a winner and a duplicate it reads the order; for the others it asks nobody.
func (d *Desk) Told(ctx context.Context, t queue.Told) (TicketView, error) {
	return d.decided(ctx, t.Ticket, t.Verdict)
}

// placed shows a ticket that the queue has placed; where the queue can not tell, SQL does.
func (d *Desk) placed(ctx context.Context, p queue.Place) (TicketView, error) {
	switch p.State {
	case queue.Queued:
		now, err := d.Now(ctx)
		if err != nil {
			return TicketView{}, err
		}
		return d.view(p.Ticket, StatusQueued, p.Ahead, now), nil
	case queue.Decided:
		d.verdicts.Add(p.Ticket, p.Verdict)
		return d.decided(ctx, p.Ticket, p.Verdict)
	}
	return d.fated(ctx, p)
}

// fated shows a ticket of which the queue does not keep the verdict. Lost is said only when SQL, read after the queue,
// is in the epoch that the queue named: then no batch of the ticket's own epoch can commit any more.
func (d *Desk) fated(ctx context.Context, p queue.Place) (TicketView, error) {
	fate, err := d.store.Fate(ctx, p.Ticket)
	if err != nil {
		return TicketView{}, d.shown("read fate of ticket", err)
	}
	status := fate.Verdict.String()
	switch {
	case fate.Verdict != 0:
		d.verdicts.Add(p.Ticket, fate.Verdict)
	case p.State == queue.Gone && fate.Epoch == p.Epoch:
		status = StatusLost
	default:
		return TicketView{}, d.shown("look ticket up", errInDoubt)
	}
	return d.withOrder(ctx, d.view(p.Ticket, status, 0, 0), fate.Order)
}

// decided shows a ticket with its verdict, and reads the order if there is one.
func (d *Desk) decided(ctx context.Context, t model.Ticket, v model.Verdict) (TicketView, error) {
	view := d.view(t, v.String(), 0, 0)
	if v != model.Won && v != model.Duplicate {
		return d.withOrder(ctx, view, nil)
	}
	fate, err := d.store.Fate(ctx, t)
	if err != nil {
		return TicketView{}, d.shown("read fate of ticket", err)
	}
	if v == model.Won && (fate.Verdict != model.Won || fate.Order == nil) {
		return TicketView{}, d.shown("read order", errNoOrder)
	}
	return d.withOrder(ctx, view, fate.Order)
}

// withOrder completes a view: the order, and the time.
func (d *Desk) withOrder(ctx context.Context, view TicketView, o *model.Order) (TicketView, error) {
	if o != nil {
		order := ViewOrder(*o)
		view.Order = &order
	}
	now, err := d.Now(ctx)
	view.ServerTime = now
	return view, err
}

func (d *Desk) view(t model.Ticket, status string, ahead int64, at model.Instant) TicketView {
	return TicketView{Ticket: d.mac.Sign(t), ItemID: t.Item, Epoch: t.Epoch, Seq: t.Seq, Quantity: t.Quantity,
		Ahead: ahead, Status: status, ServerTime: at}
}
