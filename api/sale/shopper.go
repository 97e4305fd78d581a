package sale

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// maxJoins is how often a click is tried whose buyer's mark turns out to be out of date.
const maxJoins = 3

// Items is a page of items, by starts_at then id.
func (d *Desk) Items(ctx context.Context, after string, limit int) (Page[ItemView], error) {
	items, next, err := d.store.Items(ctx, after, limit)
	if err != nil {
		return Page[ItemView]{}, d.shown("read items", err)
	}
	now, err := d.Now(ctx)
	if err != nil {
		return Page[ItemView]{}, err
	}
	page := Page[ItemView]{Rows: make([]ItemView, len(items)), Next: next}
	for n, i := range items {
		page.Rows[n] = ViewItem(i, now)
	}
	return page, nil
}

// Current is every item that is not over: what can be bought first, what is still to come last, each by starts_at.
func (d *Desk) Current(ctx context.Context) ([]ItemView, error) {
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	items, err := d.store.ItemsNotOverBefore(ctx, now)
	if err != nil {
		return nil, d.shown("read items", err)
	}
	var current []ItemView
	for _, i := range items {
		if v := ViewItem(i, now); v.Phase != model.PhaseEnded {
			current = append(current, v)
		}
	}
	order := []model.Phase{model.PhaseOpen, model.PhasePaused, model.PhaseSoldOut, model.PhaseUpcoming}
	slices.SortStableFunc(current, func(a, b ItemView) int {
		return slices.Index(order, a.Phase) - slices.Index(order, b.Phase)
	})
	return current, nil
}

// Item is one item, fresh from SQL. None: model.ErrNotFound. Clicks on an item that was looked at pass even if SQL goes away
// before the first of them.
func (d *Desk) Item(ctx context.Context, id model.ID) (ItemView, error) {
	item, err := d.shelf.read(ctx, id)
	if err != nil {
		return ItemView{}, d.shown("read item", err)
	}
	now, err := d.Now(ctx)
	if err != nil {
		return ItemView{}, err
	}
	return ViewItem(item, now), nil
}

// Buy is a click: a place in line for quantity units (0 means one). Errors, in this order: model.Invalid of field
// quantity, model.ErrNotFound; a queued buyer's own ticket is no error, whatever the phase; model.AlreadyBought with the
// live order; ErrEnded, ErrNotStarted, ErrPaused, ErrSoldOut, ErrQueueFull. No answer: model.ErrUnavailable.
// Only a buyer with a decided ticket costs a read of SQL.
func (d *Desk) Buy(ctx context.Context, item model.ID, buyer model.Buyer, quantity int) (TicketView, error) {
	if quantity == 0 {
		quantity = 1
	}
	if quantity < 1 || quantity > model.MaxPerBuyer {
		return TicketView{}, wrongQuantity(model.MaxPerBuyer)
	}
	row, err := d.shelf.item(ctx, item)
	if err != nil {
		return TicketView{}, d.shown("read item", err)
	}
	if quantity > row.PerBuyerLimit {
		return TicketView{}, wrongQuantity(row.PerBuyerLimit)
	}
	for range maxJoins {
		a, err := d.queue.Join(ctx, item, queue.Click{Buyer: buyer, Quantity: quantity})
		if errors.Is(err, queue.ErrMissing) {
			return TicketView{}, d.notInstalled(ctx, item, buyer)
		}
		if err != nil {
			return TicketView{}, d.shown("join", err)
		}
		if !a.Marked {
			return d.view(a.Ticket, StatusQueued, a.Ahead, a.At), nil
		}
		if err := d.refuseHolder(ctx, a.Ticket); err != nil {
			return TicketView{}, err
		}
		if err := d.queue.Unmark(ctx, a.Ticket); err != nil {
			return TicketView{}, d.shown("unmark", err)
		}
	}
	return TicketView{}, model.ErrUnavailable
}

func wrongQuantity(most int) error {
	return model.Invalid(map[string]string{"quantity": fmt.Sprintf("must be 1 to %d", most)})
}

// refuseHolder is model.AlreadyBought if the ticket's buyer has a live order of the item, nil if not. The clicks that have
// found the same ticket at a time share one read: a crowd of one buyer is one question, and its order was there before
// the ticket was marked as decided, and so before the read.
func (d *Desk) refuseHolder(ctx context.Context, t model.Ticket) error {
	key := fmt.Sprintf("%d %d %d %s", t.Item, t.Epoch, t.Seq, t.Buyer)
	got, err, _ := d.holders.Do(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadFor)
		defer cancel()
		return d.store.BuyerOrder(ctx, t.Item, t.Buyer)
	})
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	if err != nil {
		return d.shown("read order", err)
	}
	if o := got.(model.Order); o.Live() {
		return model.AlreadyBought(o)
	}
	return nil
}

// notInstalled is the refusal of a click on an item that the queue does not know.
func (d *Desk) notInstalled(ctx context.Context, item model.ID, buyer model.Buyer) error {
	ctx, cancel := context.WithTimeout(ctx, loadFor)
	defer cancel()
	gone, err := d.removed(ctx, item)
	switch {
	case err != nil:
		return err
	case !gone:
		return d.shown("join", queue.ErrMissing)
	}
	if err := d.refuseHolder(ctx, model.Ticket{Item: item, Buyer: buyer}); err != nil {
		return err
	}
	return model.ErrEnded
}

// removed reads whether the queue has forgotten the item for good. Unknown item: model.ErrNotFound.
func (d *Desk) removed(ctx context.Context, item model.ID) (bool, error) {
	row, err := d.store.Item(ctx, item)
	if err != nil {
		return false, d.shown("read item", err)
	}
	now, err := d.Now(ctx)
	if err != nil {
		return false, err
	}
	return removed(row, now), nil
}

// Standing is what a buyer has of an item: the undecided ticket, else the newest; the live order, else the newest.
// Either is nil where there is none. No answer: model.ErrUnavailable.
func (d *Desk) Standing(ctx context.Context, item model.ID, buyer model.Buyer) (*TicketView, *OrderView, error) {
	place, err := d.queue.Find(ctx, item, buyer)
	found := err == nil
	if errors.Is(err, queue.ErrMissing) {
		err = d.onlySQL(ctx, item)
	}
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return nil, nil, d.shown("find ticket", err)
	}
	o, err := d.store.BuyerOrder(ctx, item, buyer)
	hasOrder := err == nil
	if err != nil && !errors.Is(err, model.ErrNotFound) {
		return nil, nil, d.shown("read order", err)
	}
	if !found && !hasOrder {
		return nil, nil, nil
	}
	if !found {
		place = queue.Place{Ticket: o.Ticket(), State: queue.Decided, Verdict: model.Won}
	}
	ticket, err := d.placed(ctx, place)
	if err != nil || !hasOrder {
		return &ticket, nil, err
	}
	order := ViewOrder(o)
	return &ticket, &order, nil
}

// onlySQL is nil if the queue has forgotten the item for good, so that SQL alone knows its tickets.
func (d *Desk) onlySQL(ctx context.Context, item model.ID) error {
	gone, err := d.removed(ctx, item)
	if err != nil || gone {
		return err
	}
	return queue.ErrMissing
}

// Orders is a page of the buyer's orders, newest first; item 0 means of all items.
func (d *Desk) Orders(ctx context.Context, buyer model.Buyer, item model.ID, after string, limit int) (Page[OrderView], error) {
	if !buyer.Valid() {
		// To the filter, no buyer would mean everybody.
		return Page[OrderView]{}, model.ErrNotFound
	}
	orders, next, err := d.store.Orders(ctx, store.OrderFilter{Buyer: buyer, Item: item}, after, limit)
	if err != nil {
		return Page[OrderView]{}, d.shown("read orders", err)
	}
	page := Page[OrderView]{Rows: make([]OrderView, len(orders)), Next: next}
	for n, o := range orders {
		page.Rows[n] = ViewOrder(o)
	}
	return page, nil
}

// Order is one order of the buyer. Another's, or none: model.ErrNotFound.
func (d *Desk) Order(ctx context.Context, buyer model.Buyer, no string) (OrderView, error) {
	o, err := d.store.Order(ctx, no)
	if err != nil {
		return OrderView{}, d.shown("read order", err)
	}
	if o.Buyer != buyer {
		return OrderView{}, model.ErrNotFound
	}
	return ViewOrder(o), nil
}
