package sale

import (
	"context"

	"seckill/model"
	"seckill/model/queue"
)

// Items is a page of items, by starts_at then id.
func (d *Desk) Items(ctx context.Context, after string, limit int) (Page[ItemView], error) {
	panic("todo")
}

// Item is one item, fresh from SQL. None: model.ErrNotFound.
func (d *Desk) Item(ctx context.Context, id model.ID) (ItemView, error) { panic("todo") }

// Buy is a click: a place in line for quantity units (0 means one). Errors, in this order: model.Invalid of field
// quantity, model.ErrNotFound; a queued buyer's own ticket is no error, whatever the phase; model.AlreadyBought with the
// live order; ErrEnded, ErrNotStarted, ErrPaused, ErrSoldOut, ErrQueueFull. No answer: model.ErrUnavailable.
func (d *Desk) Buy(ctx context.Context, item model.ID, buyer model.Buyer, quantity int) (TicketView, error) {
	panic("todo")
}

// Ticket looks a ticket up by its public form: the queue first, SQL second. A malformed, forged or foreign one is
// model.ErrNotFound. No answer: model.ErrUnavailable.
func (d *Desk) Ticket(ctx context.Context, ticket string, buyer model.Buyer) (TicketView, error) {
	panic("todo")
}

// Follow looks up a ticket that this server itself has read from its queue.
func (d *Desk) Follow(ctx context.Context, t model.Ticket) (TicketView, error) { panic("todo") }

// Told shows a verdict from the queue. For a winner it reads the order; for the others it asks nobody.
func (d *Desk) Told(ctx context.Context, t queue.Told) (TicketView, error) { panic("todo") }

// Standing is what a buyer has of an item: the undecided ticket, else the newest; the live order, else the newest.
// Either is nil where there is none.
func (d *Desk) Standing(ctx context.Context, item model.ID, buyer model.Buyer) (*TicketView, *OrderView, error) {
	panic("todo")
}

// Orders is a page of the buyer's orders, newest first; item 0 means of all items.
func (d *Desk) Orders(ctx context.Context, buyer model.Buyer, item model.ID, after string, limit int) (Page[OrderView], error) {
	panic("todo")
}

// Order is one order of the buyer. Another's, or none: model.ErrNotFound.
func (d *Desk) Order(ctx context.Context, buyer model.Buyer, no string) (OrderView, error) {
	panic("todo")
}
