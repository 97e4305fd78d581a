package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// AdjustStock adds delta to stock and to available, in one update, and notes the reason.
// Below the live units: model.ErrStockBelowLive. Above model.MaxStock: model.Invalid of field delta.
func (s *Store) AdjustStock(ctx context.Context, id model.ID, delta int64, reason string) (model.Item, error) {
	return s.changeItem(ctx, id, func(tx *gorm.DB, item model.Item) (changes, error) {
		switch {
		case delta < -item.Available:
			return nil, model.ErrStockBelowLive
		case delta > model.MaxStock-item.Stock:
			return nil, model.Invalid(map[string]string{
				"delta": fmt.Sprintf("must not bring the stock above %d", model.MaxStock)})
		}
		now, err := s.databaseNow(tx)
		if err != nil {
			return nil, err
		}
		note := stockChange{ID: s.ids.Next(), ItemID: id, Delta: delta, Reason: reason, CreatedAt: now}
		if err := tx.Create(&note).Error; err != nil {
			return nil, err
		}
		return changes{"stock": gorm.Expr("stock + ?", delta), "available": gorm.Expr("available + ?", delta),
			"updated_at": now}, nil
	})
}

// stockChange is the row of table stock_changes.
type stockChange struct {
	ID        model.ID `gorm:"primaryKey;autoIncrement:false"`
	ItemID    model.ID
	Delta     int64
	Reason    string
	CreatedAt model.Instant `gorm:"autoCreateTime:false"`
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
func (s *Store) Ledgers(ctx context.Context, ids ...model.ID) ([]Ledger, error) {
	var ledgers []Ledger
	err := s.reader.WithContext(ctx).Raw(`
		SELECT items.id AS item, items.stock, items.available,
			COALESCE(SUM(CASE WHEN orders.status = 'pending' THEN orders.quantity END), 0) AS pending,
			COALESCE(SUM(CASE WHEN orders.status = 'paid' THEN orders.quantity END), 0) AS paid
		FROM items LEFT JOIN orders ON orders.item_id = items.id AND orders.status IN ('pending', 'paid')
		WHERE items.id IN ?
		GROUP BY items.id, items.stock, items.available`, ids).Scan(&ledgers).Error
	if err != nil {
		return nil, fmt.Errorf("ledgers: %w", err)
	}
	return ledgers, nil
}
