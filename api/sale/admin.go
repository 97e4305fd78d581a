package sale

import (
	"context"

	"seckill/model"
	"seckill/model/store"
)

// Publish puts an item on sale: into SQL, then into the queue. When the queue can not be told the item stands all the
// same, the error is model.ErrUnavailable, and the sellers' sweep tells it. Wrong fields: model.Invalid.
func (d *Desk) Publish(ctx context.Context, draft model.Draft) (AdminItemView, error) { panic("todo") }

// AdminItem is one item with what only admins see. None: model.ErrNotFound.
func (d *Desk) AdminItem(ctx context.Context, id model.ID) (AdminItemView, error) { panic("todo") }

// AdminItems is a page of items, by starts_at then id.
func (d *Desk) AdminItems(ctx context.Context, after string, limit int) (Page[AdminItemView], error) {
	panic("todo")
}

// Edit changes the given fields of the item if version is the present one; see model.Draft.Edit and
// store.EditItem for the errors. As every call below it returns only when the queue obeys, or model.ErrUnavailable.
func (d *Desk) Edit(ctx context.Context, id model.ID, version int64, draft model.Draft) (AdminItemView, error) {
	panic("todo")
}

// AdjustStock adds delta to the stock. Zero, or beyond ±model.MaxStock: model.Invalid of field delta. A reason of over
// 200 characters: model.Invalid of field reason. See store.AdjustStock for the other errors.
func (d *Desk) AdjustStock(ctx context.Context, id model.ID, delta int64, reason string) (AdminItemView, error) {
	panic("todo")
}

// Pause stops new tickets; those in line wait.
func (d *Desk) Pause(ctx context.Context, id model.ID) (AdminItemView, error) { panic("todo") }

// Resume ends a pause.
func (d *Desk) Resume(ctx context.Context, id model.ID) (AdminItemView, error) { panic("todo") }

// Close ends the sale; those in line get "ended".
func (d *Desk) Close(ctx context.Context, id model.ID) (AdminItemView, error) { panic("todo") }

// Ledger is where the item's units are.
func (d *Desk) Ledger(ctx context.Context, id model.ID) (LedgerView, error) { panic("todo") }

// AdminOrders is a page of everybody's orders, newest first.
func (d *Desk) AdminOrders(ctx context.Context, f store.OrderFilter, after string, limit int) (Page[AdminOrderView], error) {
	panic("todo")
}

// EachOrder hands every chosen order to each, newest first.
func (d *Desk) EachOrder(ctx context.Context, f store.OrderFilter, each func(AdminOrderView) error) error {
	panic("todo")
}

// Audit holds the promises against SQL.
func (d *Desk) Audit(ctx context.Context) ([]store.Check, error) { return d.store.Audit(ctx) }
