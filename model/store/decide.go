package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"
	"gorm.io/gorm"

	"seckill/model"
)

// Errors of Decide: nothing was written.
var (
	// ErrEpoch: the item's queue is in another epoch than the batch; peek anew.
	ErrEpoch = errors.New("store: another epoch")
	// ErrPaused: the item is paused and not closed; wait.
	ErrPaused = errors.New("store: item is paused")
)

// Outcome is a committed decision.
type Outcome struct {
	// Verdicts has one for each entry.
	Verdicts []model.Verdict
	// Orders has the orders of the winners, by number, new and old.
	Orders map[int64]model.Order
	// Fresh counts the entries that were decided now and not in an earlier run.
	Fresh int
	// Item is the row after the decision.
	Item model.Item
}

// Decide judges a batch of one item's entries, oldest first, in one transaction whose first statement locks the item
// row: orders of the winners, units taken, one decision row with every fresh verdict, decided, and, where there is a
// journal, its groups that are decided whole. Judging is model.Case's. An order that SQL refuses fails alone: the batch is judged
// again without it. A batch that was decided before gets the same verdicts and writes nothing; but an entry without a
// number leaves no trace to be known by, and is counted in set_aside each time.
// A returned error means that nothing is known: run it again.
func (s *Store) Decide(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) (Outcome, error) {
	var out Outcome
	err := s.writeRepeatable(ctx, func(tx *gorm.DB) error {
		row, err := lockItem(tx, item)
		if err != nil {
			return err
		}
		if row.Epoch != epoch {
			return ErrEpoch
		}
		if row.Paused && row.ClosedAt == 0 {
			return ErrPaused
		}
		out, err = s.decide(tx, row, entries)
		return err
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("decide item %s: %w", item, err)
	}
	return out, nil
}

// decide judges the entries and writes what comes of it, under the lock of item.
func (s *Store) decide(tx *gorm.DB, item model.Item, entries []model.Entry) (Outcome, error) {
	c, err := loadCase(tx, item, entries)
	if err != nil {
		return Outcome{}, err
	}
	now, err := s.databaseNow(tx)
	if err != nil {
		return Outcome{}, err
	}
	verdicts, fresh, orders, err := s.placeOrders(tx, c, entries, now)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Verdicts: verdicts, Orders: c.Orders, Item: item}
	sum := addUp(entries, verdicts, fresh)
	for _, order := range orders {
		out.Orders[order.Seq] = order
		sum.taken += int64(order.Quantity)
	}
	if sum.fresh == 0 {
		return out, nil
	}
	out.Fresh = sum.fresh
	if out.Item, err = takeUnits(tx, item, sum); err != nil {
		return Outcome{}, err
	}
	row := decisionRow{ItemID: item.ID, Epoch: item.Epoch, PerBuyerLimit: item.PerBuyerLimit, Available: item.Available,
		Version: out.Item.Version, Closed: item.ClosedAt != 0, CreatedAt: now}
	if err := insertDecision(tx, row, sum.tickets); err != nil {
		return Outcome{}, err
	}
	if !s.dialect.journal {
		return out, nil
	}
	return out, forgetJournal(tx, item.ID, out.Item.Decided)
}

// tally is what a batch comes to.
type tally struct {
	fresh   int
	failed  int64
	taken   int64           // units
	tickets []model.Decided // the fresh ones that have a number, rising
}

// addUp counts the fresh entries; the units are left to the caller.
func addUp(entries []model.Entry, verdicts []model.Verdict, fresh []bool) tally {
	var sum tally
	for n, e := range entries {
		if !fresh[n] {
			continue
		}
		sum.fresh++
		if verdicts[n] == model.Failed {
			sum.failed++
		}
		if e.Seq > 0 {
			sum.tickets = append(sum.tickets,
				model.Decided{Seq: e.Seq, Verdict: verdicts[n], Quantity: e.Quantity, Buyer: hashOf(e)})
		}
	}
	return sum
}

// takeUnits writes the item's side of a decision in one update, and is the row after it.
func takeUnits(tx *gorm.DB, item model.Item, sum tally) (model.Item, error) {
	set := changes{}
	if n := len(sum.tickets); n > 0 {
		item.Decided = max(item.Decided, sum.tickets[n-1].Seq)
		set["decided"] = item.Decided
	}
	if sum.failed > 0 {
		item.SetAside += sum.failed
		set["set_aside"] = gorm.Expr("set_aside + ?", sum.failed)
	}
	if sum.taken == 0 {
		return item, tx.Model(&itemRow{}).Where("id = ?", item.ID).UpdateColumns(map[string]any(set)).Error
	}
	item.Available -= sum.taken
	item.Version++
	set["available"] = gorm.Expr("available - ?", sum.taken)
	return item, updateGate(tx, item.ID, set)
}

// placeOrders judges the entries and inserts the orders of the fresh winners; when SQL refuses some, it takes all back
// and judges again with those failed, until SQL takes the rest.
func (s *Store) placeOrders(tx *gorm.DB, c model.Case, entries []model.Entry, now model.Instant) (
	verdicts []model.Verdict, fresh []bool, orders []model.Order, err error) {
	if err := tx.Exec("SAVEPOINT orders").Error; err != nil {
		return nil, nil, nil, err
	}
	for {
		verdicts, fresh = c.Judge(entries)
		orders, err = s.newOrders(c.Item, entries, verdicts, fresh, now)
		if err != nil {
			return nil, nil, nil, err
		}
		err = insertOrders(tx, orders)
		if err == nil || !s.dialect.refused(err) {
			return verdicts, fresh, orders, err
		}
		bad, err := s.findRefused(tx, orders)
		if err != nil {
			return nil, nil, nil, err
		}
		for _, seq := range bad {
			c.Refused[seq] = true
		}
	}
}

// findRefused inserts the orders one by one to learn the numbers of those that SQL refuses, and takes them all back. They
// get new ids for it: that another process has taken an id is no reason to turn a ticket down.
func (s *Store) findRefused(tx *gorm.DB, orders []model.Order) ([]int64, error) {
	if err := tx.Exec("ROLLBACK TO SAVEPOINT orders").Error; err != nil {
		return nil, err
	}
	var bad []int64
	for _, order := range orders {
		order.ID = s.ids.Next()
		err := insertOrders(tx, []model.Order{order})
		switch {
		case err == nil:
		case s.dialect.refused(err):
			s.log.Error("SQL refuses an order", "item", order.Item, "epoch", order.Epoch, "seq", order.Seq, "error", err)
			bad = append(bad, order.Seq)
		default:
			return nil, err
		}
	}
	if len(bad) == 0 {
		return nil, errors.New("SQL refuses orders together that it takes one by one")
	}
	return bad, tx.Exec("ROLLBACK TO SAVEPOINT orders").Error
}

// newOrders is the orders of the fresh winners.
func (s *Store) newOrders(item model.Item, entries []model.Entry, verdicts []model.Verdict, fresh []bool, now model.Instant) ([]model.Order, error) {
	var orders []model.Order
	for n, e := range entries {
		if !fresh[n] || verdicts[n] != model.Won {
			continue
		}
		no, err := ulid.New(uint64(now), rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("number of an order: %w", err)
		}
		orders = append(orders, model.Order{ID: s.ids.Next(), No: no.String(), Item: item.ID, Title: item.Title,
			Buyer: e.Buyer, Quantity: e.Quantity, Amount: item.Price.Times(e.Quantity), Status: model.OrderPending,
			Epoch: e.Epoch, Seq: e.Seq, CreatedAt: now,
			ExpiresAt: now.Add(time.Duration(item.PayWithin) * time.Second)})
	}
	return orders, nil
}

// rowsAtOnce is how many orders go into one statement: 18 columns each, and SQLite takes 32,766 values.
const rowsAtOnce = 500

func insertOrders(tx *gorm.DB, orders []model.Order) error {
	for part := range slices.Chunk(orders, rowsAtOnce) {
		rows := make([]orderRow, len(part))
		for n, order := range part {
			rows[n] = orderRowOf(order)
		}
		if err := tx.Create(&rows).Error; err != nil {
			return err
		}
	}
	return nil
}
