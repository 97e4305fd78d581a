package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// Check is one promise held against the stores.
type Check struct {
	Promise  string   `json:"promise"` // "I1" … "I11"
	OK       bool     `json:"ok"`
	Breaches []Breach `json:"breaches"`
}

// Breach is one place where a promise does not hold.
type Breach struct {
	Item   *model.ID `json:"item"`
	Order  *string   `json:"order"` // its number
	Detail string    `json:"detail"`
}

// maxBreaches is how many breaches of a promise are listed; one more says how many there are beside.
const maxBreaches = 1_000

// Audit checks each promise that SQL can show, all from one snapshot, so that it is right during a sale too:
//
//	I1  live units are within stock, and available is not negative
//	I2  a buyer has one live order of an item, within the limit that it was decided under
//	I4  each won has its order, the same in item, epoch, number, quantity and buyer; each order has its won
//	I5  no ticket was turned down for units that were free, no more was won than was free
//	I6  stock = available + pending + paid
//	I7  decisions follow each other in numbers, epochs and versions, up to what the item says is decided
//
// Every check is listed, in this order, with at most 1,001 breaches, never nil. Decisions are read in pages: what an
// audit holds in memory does not grow with them. It writes nothing; the snapshot it holds keeps SQLite's log from
// being cut meanwhile. An error means that it could not look.
func (s *Store) Audit(ctx context.Context) ([]Check, error) {
	a := newAudit()
	if err := s.read(ctx, a.run); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return a.checks(), nil
}

// audit is one audit's findings, by promise.
type audit struct {
	units, holders, verdicts, replay, ledger, line findings
}

func newAudit() *audit {
	return &audit{units: findings{promise: "I1"}, holders: findings{promise: "I2"}, verdicts: findings{promise: "I4"},
		replay: findings{promise: "I5"}, ledger: findings{promise: "I6"}, line: findings{promise: "I7"}}
}

func (a *audit) checks() []Check {
	var checks []Check
	for _, f := range []*findings{&a.units, &a.holders, &a.verdicts, &a.replay, &a.ledger, &a.line} {
		checks = append(checks, f.check())
	}
	return checks
}

// run makes all checks in the transaction.
func (a *audit) run(tx *gorm.DB) error {
	for _, look := range []func(*gorm.DB) error{a.lookAtHolders, a.lookAtStrayOrders, a.lookAtStrayDecisions} {
		if err := look(tx); err != nil {
			return err
		}
	}
	items, err := auditItems(tx)
	if err != nil {
		return err
	}
	for _, item := range items {
		a.checkUnits(item)
		if err := a.checkDecisions(tx, item); err != nil {
			return fmt.Errorf("item %s: %w", item.ID, err)
		}
	}
	return nil
}

// auditItem is what the item row says, and the units of its live orders.
type auditItem struct {
	ID        model.ID
	Stock     int64
	Available int64
	Version   int64
	Epoch     int64
	Decided   int64
	Pending   int64
	Paid      int64
}

func auditItems(tx *gorm.DB) ([]auditItem, error) {
	var items []auditItem
	err := tx.Raw(`
		SELECT i.id, i.stock, i.available, i.version, i.epoch, i.decided,
			COALESCE(SUM(CASE WHEN o.status = 'pending' THEN o.quantity END), 0) AS pending,
			COALESCE(SUM(CASE WHEN o.status = 'paid' THEN o.quantity END), 0) AS paid
		FROM items i LEFT JOIN orders o ON o.item_id = i.id AND o.status IN ('pending', 'paid')
		GROUP BY i.id ORDER BY i.id`).Scan(&items).Error
	if err != nil {
		return nil, fmt.Errorf("items: %w", err)
	}
	return items, nil
}

// checkUnits holds I1 and I6.
func (a *audit) checkUnits(i auditItem) {
	live := i.Pending + i.Paid
	if live > i.Stock || i.Available < 0 {
		a.units.add(i.ID, "", "%d units are live (%d pending, %d paid) of a stock of %d; %d are available",
			live, i.Pending, i.Paid, i.Stock, i.Available)
	}
	if i.Stock != i.Available+live {
		a.ledger.add(i.ID, "", "stock is %d, but %d available + %d pending + %d paid = %d",
			i.Stock, i.Available, i.Pending, i.Paid, i.Available+live)
	}
}

// lookAtHolders holds the first half of I2; the second half needs the decisions.
func (a *audit) lookAtHolders(tx *gorm.DB) error {
	type holder struct {
		ItemID model.ID
		No     string
		Orders int64
		Units  int64
	}
	query := tx.Raw(`
		SELECT item_id, MIN(no) AS no, COUNT(*) AS orders, SUM(quantity) AS units
		FROM orders WHERE status IN ('pending', 'paid')
		GROUP BY item_id, buyer HAVING COUNT(*) > 1 ORDER BY item_id, no`)
	return eachRow(query, func(h holder) {
		a.holders.add(h.ItemID, h.No, "its buyer has %d live orders of the item, of %d units", h.Orders, h.Units)
	})
}

// lookAtStrayOrders finds orders of items that do not exist: a part of I4.
func (a *audit) lookAtStrayOrders(tx *gorm.DB) error {
	type stray struct {
		ItemID model.ID
		Orders int64
	}
	query := tx.Raw(`
		SELECT item_id, COUNT(*) AS orders FROM orders WHERE item_id NOT IN (SELECT id FROM items)
		GROUP BY item_id ORDER BY item_id`)
	return eachRow(query, func(o stray) {
		a.verdicts.add(o.ItemID, "", "%d orders are of an item that does not exist", o.Orders)
	})
}

// lookAtStrayDecisions finds decisions of items that do not exist: a part of I7.
func (a *audit) lookAtStrayDecisions(tx *gorm.DB) error {
	type stray struct {
		ItemID    model.ID
		Decisions int64
	}
	query := tx.Raw(`
		SELECT item_id, COUNT(*) AS decisions FROM decisions WHERE item_id NOT IN (SELECT id FROM items)
		GROUP BY item_id ORDER BY item_id`)
	return eachRow(query, func(d stray) {
		a.line.add(d.ItemID, "", "%d decisions are of an item that does not exist", d.Decisions)
	})
}

// eachRow hands each row of the query to f, holding one at a time.
func eachRow[T any](query *gorm.DB, f func(T)) error {
	rows, err := query.Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := query.ScanRows(rows, &row); err != nil {
			return err
		}
		f(row)
	}
	return rows.Err()
}

// findings is what was found against one promise.
type findings struct {
	promise  string
	breaches []Breach
	more     int64
}

// add notes a breach at an item, and at an order if no is not empty.
func (f *findings) add(item model.ID, no, format string, args ...any) {
	if len(f.breaches) >= maxBreaches {
		f.more++
		return
	}
	b := Breach{Item: &item, Detail: fmt.Sprintf(format, args...)}
	if no != "" {
		b.Order = &no
	}
	f.breaches = append(f.breaches, b)
}

func (f *findings) check() Check {
	breaches := append([]Breach{}, f.breaches...)
	if f.more > 0 {
		breaches = append(breaches, Breach{Detail: fmt.Sprintf("and %d more", f.more)})
	}
	return Check{Promise: f.promise, OK: len(breaches) == 0, Breaches: breaches}
}
