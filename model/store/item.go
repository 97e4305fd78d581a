package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"seckill/model"
)

// CreateItem inserts a published item under a new id and returns it.
func (s *Store) CreateItem(ctx context.Context, item model.Item) (model.Item, error) {
	item.ID = s.ids.Next()
	row := itemRowOf(item)
	err := s.write(ctx, func(tx *gorm.DB) error { return tx.Create(&row).Error })
	if err != nil {
		return model.Item{}, fmt.Errorf("create item: %w", err)
	}
	return item, nil
}

// Item is one item. None: model.ErrNotFound.
func (s *Store) Item(ctx context.Context, id model.ID) (model.Item, error) {
	item, err := takeItem(s.reader.WithContext(ctx), id)
	if err != nil {
		return model.Item{}, fmt.Errorf("item %s: %w", id, err)
	}
	return item, nil
}

// Items is a page of at most limit items by starts_at, then id, after the cursor ("" from the start); next is "" at
// the end. A cursor that this did not make: model.Invalid of field after.
func (s *Store) Items(ctx context.Context, after string, limit int) (items []model.Item, next string, err error) {
	q := s.reader.WithContext(ctx).Order("starts_at, id").Limit(limit + 1)
	if after != "" {
		at, err := decodeCursor(itemList, after)
		if err != nil {
			return nil, "", err
		}
		q = q.Where("starts_at >= ? AND (starts_at > ? OR id > ?)", at.key, at.key, at.id)
	}
	if items, err = findItems(q); err != nil {
		return nil, "", fmt.Errorf("items: %w", err)
	}
	if len(items) > limit {
		items = items[:limit]
		last := items[limit-1]
		next = cursor{last.StartsAt, last.ID}.encode(itemList)
	}
	return items, next, nil
}

// ItemsNotOverBefore is every item that was not closed and had not reached its end before t, or has tickets in the
// journal: the ones whose queues have to be kept, when t is a day ago.
func (s *Store) ItemsNotOverBefore(ctx context.Context, t model.Instant) ([]model.Item, error) {
	q := s.reader.WithContext(ctx).Order("starts_at, id").
		Where("(closed_at IS NULL OR closed_at >= ?) AND (ends_at IS NULL OR ends_at >= ?)", t, t)
	if s.dialect.journal {
		q = q.Or("EXISTS (SELECT 1 FROM journal WHERE journal.item_id = items.id)")
	}
	items, err := findItems(q)
	if err != nil {
		return nil, fmt.Errorf("items not over: %w", err)
	}
	return items, nil
}

// EditItem replaces the fields of an item by what edit makes of it, under the row lock; stock, available and the queue's
// fields stay as they are in SQL whatever edit returns. A version other than the present one: *model.Error of
// CodeChanged with the present item. An error of edit is returned as it is, and nothing is written.
func (s *Store) EditItem(ctx context.Context, id model.ID, version int64, edit func(model.Item) (model.Item, error)) (model.Item, error) {
	return s.changeItem(ctx, id, func(_ *gorm.DB, item model.Item) (changes, error) {
		if item.Version != version {
			return nil, model.Changed(item)
		}
		edited, err := edit(item)
		if err != nil {
			return nil, err
		}
		return changes{"title": edited.Title, "description": edited.Description, "image_url": edited.ImageURL,
			"amount": edited.Price.Amount, "currency": edited.Price.Currency, "per_buyer_limit": edited.PerBuyerLimit,
			"pay_within": edited.PayWithin, "starts_at": edited.StartsAt, "ends_at": maybe(edited.EndsAt),
			"updated_at": edited.UpdatedAt}, nil
	})
}

// SetPaused pauses or resumes at now by the gate's clock; repeating it changes nothing. After the end: model.ErrEnded.
func (s *Store) SetPaused(ctx context.Context, id model.ID, paused bool, now model.Instant) (model.Item, error) {
	return s.changeItem(ctx, id, func(_ *gorm.DB, item model.Item) (changes, error) {
		if item.Phase(now) == model.PhaseEnded {
			return nil, model.ErrEnded
		}
		if item.Paused == paused {
			return nil, nil
		}
		return changes{"paused": paused, "updated_at": now}, nil
	})
}

// CloseItem ends the sale at now by the gate's clock; an item that is closed stays as it is.
func (s *Store) CloseItem(ctx context.Context, id model.ID, now model.Instant) (model.Item, error) {
	return s.changeItem(ctx, id, func(_ *gorm.DB, item model.Item) (changes, error) {
		if item.ClosedAt != 0 {
			return nil, nil
		}
		return changes{"closed_at": now, "updated_at": now}, nil
	})
}

// changes is columns of an item with their new values.
type changes map[string]any

// changeItem locks an item, asks change what to write, writes it, and returns the row after it. No changes: nothing is
// written. An error of change is returned as it is.
func (s *Store) changeItem(ctx context.Context, id model.ID, change func(*gorm.DB, model.Item) (changes, error)) (model.Item, error) {
	var after model.Item
	err := s.write(ctx, func(tx *gorm.DB) error {
		item, err := lockItem(tx, id)
		if err != nil {
			return err
		}
		set, err := change(tx, item)
		if err != nil {
			return err
		}
		if set == nil {
			after = item
			return nil
		}
		if err := updateGate(tx, id, set); err != nil {
			return err
		}
		after, err = takeItem(tx, id)
		return err
	})
	if err == nil {
		return after, nil
	}
	if shown := new(model.Error); errors.As(err, &shown) {
		return model.Item{}, err
	}
	return model.Item{}, fmt.Errorf("change item %s: %w", id, err)
}

// updateGate writes columns of an item, and raises its version with them in the one statement. Whatever changes
// available or a field of the gate goes through here: the queue's mirror takes a row over only if its version is higher.
func updateGate(tx *gorm.DB, id model.ID, set changes) error {
	set["version"] = gorm.Expr("version + 1")
	return tx.Model(&itemRow{}).Where("id = ?", id).UpdateColumns(map[string]any(set)).Error
}

// lockItem reads an item's row and keeps others from changing it until the transaction ends. On SQLite the transaction
// itself has locked everything, and the clause is left out.
func lockItem(tx *gorm.DB, id model.ID) (model.Item, error) {
	return takeItem(tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate}), id)
}

// takeItem reads an item's row. None: model.ErrNotFound.
func takeItem(db *gorm.DB, id model.ID) (model.Item, error) {
	items, err := findItems(db.Where("id = ?", id))
	if err != nil {
		return model.Item{}, err
	}
	if len(items) == 0 {
		return model.Item{}, model.ErrNotFound
	}
	return items[0], nil
}

func findItems(q *gorm.DB) ([]model.Item, error) {
	var rows []itemRow
	if err := q.Find(&rows).Error; err != nil {
		return nil, err
	}
	items := make([]model.Item, len(rows))
	for n := range rows {
		items[n] = rows[n].item()
	}
	return items, nil
}

// itemRow is the row of table items.
type itemRow struct {
	ID            model.ID `gorm:"primaryKey;autoIncrement:false"`
	Title         string
	Description   string
	ImageURL      string
	Amount        int64
	Currency      string
	Stock         int64
	Available     int64
	PerBuyerLimit int
	PayWithin     int
	StartsAt      model.Instant
	EndsAt        maybe
	Paused        bool
	ClosedAt      maybe
	Version       int64
	Epoch         int64
	Decided       int64
	SetAside      int64
	CreatedAt     model.Instant `gorm:"autoCreateTime:false"`
	UpdatedAt     model.Instant `gorm:"autoUpdateTime:false"`
}

// TableName names the table for gorm.
func (itemRow) TableName() string { return "items" }

func itemRowOf(i model.Item) itemRow {
	return itemRow{ID: i.ID, Title: i.Title, Description: i.Description, ImageURL: i.ImageURL,
		Amount: i.Price.Amount, Currency: i.Price.Currency, Stock: i.Stock, Available: i.Available,
		PerBuyerLimit: i.PerBuyerLimit, PayWithin: i.PayWithin, StartsAt: i.StartsAt, EndsAt: maybe(i.EndsAt),
		Paused: i.Paused, ClosedAt: maybe(i.ClosedAt), Version: i.Version, Epoch: i.Epoch, Decided: i.Decided,
		SetAside: i.SetAside, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt}
}

func (r itemRow) item() model.Item {
	return model.Item{ID: r.ID, Title: r.Title, Description: r.Description, ImageURL: r.ImageURL,
		Price: model.Money{Amount: r.Amount, Currency: r.Currency}, Stock: r.Stock, Available: r.Available,
		PerBuyerLimit: r.PerBuyerLimit, PayWithin: r.PayWithin, StartsAt: r.StartsAt, EndsAt: model.Instant(r.EndsAt),
		Paused: r.Paused, ClosedAt: model.Instant(r.ClosedAt), Version: r.Version, Epoch: r.Epoch, Decided: r.Decided,
		SetAside: r.SetAside, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
}
