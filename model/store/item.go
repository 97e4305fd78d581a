package store

import (
	"context"

	"seckill/model"
)

// CreateItem inserts a published item under a new id and returns it.
func (s *Store) CreateItem(ctx context.Context, item model.Item) (model.Item, error) { panic("todo") }

// Item is one item. None: model.ErrNotFound.
func (s *Store) Item(ctx context.Context, id model.ID) (model.Item, error) { panic("todo") }

// Items is a page of at most limit items by starts_at, then id, after the cursor ("" from the start); next is "" at
// the end. A cursor that this did not make: model.Invalid of field after.
func (s *Store) Items(ctx context.Context, after string, limit int) (items []model.Item, next string, err error) {
	panic("todo")
}

// ItemsNotOverBefore is every item that was not closed and had not reached its end before t: the ones whose queues have
// to be kept, when t is a day ago.
func (s *Store) ItemsNotOverBefore(ctx context.Context, t model.Instant) ([]model.Item, error) {
	panic("todo")
}

// EditItem replaces the fields of an item by what edit makes of it, under the row lock; stock, available and the queue's
// fields stay as they are in SQL whatever edit returns. A version other than the present one: *model.Error of
// CodeChanged with the present item. An error of edit is returned as it is, and nothing is written.
func (s *Store) EditItem(ctx context.Context, id model.ID, version int64, edit func(model.Item) (model.Item, error)) (model.Item, error) {
	panic("todo")
}

// AdjustStock adds delta to stock and to available, in one conditional update, and notes the reason.
// Below the live units: model.ErrStockBelowLive. Above model.MaxStock: model.Invalid of field delta.
func (s *Store) AdjustStock(ctx context.Context, id model.ID, delta int64, reason string) (model.Item, error) {
	panic("todo")
}

// SetPaused pauses or resumes at now by the gate's clock; repeating it changes nothing. After the end: model.ErrEnded.
func (s *Store) SetPaused(ctx context.Context, id model.ID, paused bool, now model.Instant) (model.Item, error) {
	panic("todo")
}

// CloseItem ends the sale at now by the gate's clock; an item that is closed stays as it is.
func (s *Store) CloseItem(ctx context.Context, id model.ID, now model.Instant) (model.Item, error) {
	panic("todo")
}

// Ledger is where an item's units are, read by one statement.
type Ledger struct {
	Item      model.ID
	Stock     int64
	Available int64
	Pending   int64
	Paid      int64
}

// Ledgers is the ledger of each of the items, in no order; an unknown id is left out.
func (s *Store) Ledgers(ctx context.Context, ids ...model.ID) ([]Ledger, error) { panic("todo") }
