package store

import (
	"context"

	"seckill/model"
)

// OrderFilter chooses orders; a zero field chooses all. From is inclusive, To exclusive, by created_at.
type OrderFilter struct {
	Item     model.ID
	Buyer    model.Buyer
	Status   model.OrderStatus
	No       string
	From, To model.Instant
}

// Order is one order by its number, whoever's it is. None: model.ErrNotFound.
func (s *Store) Order(ctx context.Context, no string) (model.Order, error) { panic("todo") }

// BuyerOrder is the buyer's live order of the item, else the newest. None: model.ErrNotFound.
func (s *Store) BuyerOrder(ctx context.Context, item model.ID, buyer model.Buyer) (model.Order, error) {
	panic("todo")
}

// Orders is a page of at most limit orders, newest first, after the cursor; next is "" at the end.
// A cursor that this did not make: model.Invalid of field after.
func (s *Store) Orders(ctx context.Context, f OrderFilter, after string, limit int) (orders []model.Order, next string, err error) {
	panic("todo")
}

// EachOrder hands every order that f chooses to each, newest first, reading in pages: a long answer holds no lock.
func (s *Store) EachOrder(ctx context.Context, f OrderFilter, each func(model.Order) error) error {
	panic("todo")
}
