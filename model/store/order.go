package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

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
func (s *Store) Order(ctx context.Context, no string) (model.Order, error) {
	order, err := takeOrder(s.reader.WithContext(ctx).Where("no = ?", no))
	if err != nil {
		return model.Order{}, fmt.Errorf("order %.40q: %w", no, err)
	}
	return order, nil
}

// BuyerOrder is the buyer's live order of the item, else the newest. None: model.ErrNotFound.
func (s *Store) BuyerOrder(ctx context.Context, item model.ID, buyer model.Buyer) (model.Order, error) {
	order, err := buyerOrder(s.reader.WithContext(ctx), item, buyer)
	if err != nil {
		return model.Order{}, fmt.Errorf("buyer's order of item %s: %w", item, err)
	}
	return order, nil
}

// buyerOrder is BuyerOrder on db. NULL sorts below 1 everywhere.
func buyerOrder(db *gorm.DB, item model.ID, buyer model.Buyer) (model.Order, error) {
	return takeOrder(db.Where("item_id = ? AND buyer = ?", item, []byte(buyer)).
		Order("live DESC, created_at DESC, id DESC"))
}

// Orders is a page of at most limit orders, newest first, after the cursor; next is "" at the end.
// A cursor that this did not make: model.Invalid of field after.
func (s *Store) Orders(ctx context.Context, f OrderFilter, after string, limit int) (orders []model.Order, next string, err error) {
	q := f.choose(s.reader.WithContext(ctx)).Order("created_at DESC, id DESC").Limit(limit + 1)
	if after != "" {
		at, err := decodeCursor(orderList, after)
		if err != nil {
			return nil, "", err
		}
		q = q.Where("created_at <= ? AND (created_at < ? OR id < ?)", at.key, at.key, at.id)
	}
	if orders, err = findOrders(q); err != nil {
		return nil, "", fmt.Errorf("orders: %w", err)
	}
	if len(orders) > limit {
		orders = orders[:limit]
		last := orders[limit-1]
		next = cursor{last.CreatedAt, last.ID}.encode(orderList)
	}
	return orders, next, nil
}

// exportPage is how many orders EachOrder reads at a time.
const exportPage = 500

// EachOrder hands every order that f chooses to each, newest first, reading in pages: a long answer holds no lock.
func (s *Store) EachOrder(ctx context.Context, f OrderFilter, each func(model.Order) error) error {
	for after := ""; ; {
		orders, next, err := s.Orders(ctx, f, after, exportPage)
		if err != nil {
			return err
		}
		for _, order := range orders {
			if err := each(order); err != nil {
				return err
			}
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// choose adds the filter's conditions.
func (f OrderFilter) choose(q *gorm.DB) *gorm.DB {
	if f.Item != 0 {
		q = q.Where("item_id = ?", f.Item)
	}
	if f.Buyer != "" {
		q = q.Where("buyer = ?", []byte(f.Buyer))
	}
	if f.Status != "" {
		q = q.Where("status = ?", f.Status)
	}
	if f.No != "" {
		q = q.Where("no = ?", f.No)
	}
	if f.From != 0 {
		q = q.Where("created_at >= ?", f.From)
	}
	if f.To != 0 {
		q = q.Where("created_at < ?", f.To)
	}
	return q
}

// takeOrder is the first order of q. None: model.ErrNotFound.
func takeOrder(q *gorm.DB) (model.Order, error) {
	orders, err := findOrders(q.Limit(1))
	if err != nil {
		return model.Order{}, err
	}
	if len(orders) == 0 {
		return model.Order{}, model.ErrNotFound
	}
	return orders[0], nil
}

func findOrders(q *gorm.DB) ([]model.Order, error) {
	var rows []orderRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, err
	}
	orders := make([]model.Order, len(rows))
	for n := range rows {
		orders[n] = rows[n].order()
	}
	return orders, nil
}

// orderRow is the row of table orders.
type orderRow struct {
	ID           model.ID `gorm:"primaryKey;autoIncrement:false"`
	No           string
	ItemID       model.ID
	Title        string
	Buyer        []byte
	Quantity     int
	Amount       int64
	Currency     string
	Status       model.OrderStatus
	Live         *int // 1 while the order holds its units, else NULL
	Epoch        int64
	Seq          int64
	CreatedAt    model.Instant `gorm:"autoCreateTime:false"`
	ExpiresAt    model.Instant
	PaidAt       maybe
	CancelledAt  maybe
	CancelReason string
	Refund       string
}

// TableName names the table for gorm.
func (orderRow) TableName() string { return "orders" }

func orderRowOf(o model.Order) orderRow {
	r := orderRow{ID: o.ID, No: o.No, ItemID: o.Item, Title: o.Title, Buyer: []byte(o.Buyer), Quantity: o.Quantity,
		Amount: o.Amount.Amount, Currency: o.Amount.Currency, Status: o.Status, Epoch: o.Epoch, Seq: o.Seq,
		CreatedAt: o.CreatedAt, ExpiresAt: o.ExpiresAt, PaidAt: maybe(o.PaidAt), CancelledAt: maybe(o.CancelledAt),
		CancelReason: o.CancelReason, Refund: o.Refund}
	if o.Live() {
		r.Live = new(1)
	}
	return r
}

func (r orderRow) order() model.Order {
	return model.Order{ID: r.ID, No: r.No, Item: r.ItemID, Title: r.Title, Buyer: model.Buyer(r.Buyer),
		Quantity: r.Quantity, Amount: model.Money{Amount: r.Amount, Currency: r.Currency}, Status: r.Status,
		Epoch: r.Epoch, Seq: r.Seq, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, PaidAt: model.Instant(r.PaidAt),
		CancelledAt: model.Instant(r.CancelledAt), CancelReason: r.CancelReason, Refund: r.Refund}
}
