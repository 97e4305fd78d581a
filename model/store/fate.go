package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// Fate is what SQL knows of a ticket.
type Fate struct {
	// Verdict is zero where SQL has neither an order nor a decision of this ticket.
	Verdict model.Verdict
	// Order is the ticket's own order if it won; for a duplicate the buyer's live, else newest order.
	Order *model.Order
	// Epoch is the item's present epoch.
	Epoch int64
}

// Fate reads, in one transaction: an order of that ticket and buyer; else a decision with this buyer's hash at that
// number, other than a win; else the item's epoch. Unknown item: model.ErrNotFound.
func (s *Store) Fate(ctx context.Context, t model.Ticket) (Fate, error) {
	var fate Fate
	err := s.read(ctx, func(tx *gorm.DB) error {
		item, err := takeItem(tx, t.Item)
		if err != nil {
			return err
		}
		fate = Fate{Epoch: item.Epoch}
		order, err := takeOrder(tx.Where("item_id = ? AND epoch = ? AND seq = ? AND buyer = ?",
			t.Item, t.Epoch, t.Seq, []byte(t.Buyer)))
		if err == nil {
			fate.Verdict, fate.Order = model.Won, &order
			return nil
		}
		if !errors.Is(err, model.ErrNotFound) {
			return err
		}
		return decidedFate(tx, t, &fate)
	})
	if err != nil {
		return Fate{}, fmt.Errorf("fate of ticket %d of item %s: %w", t.Seq, t.Item, err)
	}
	return fate, nil
}

// decidedFate is the fate of a ticket without an order of its own.
func decidedFate(tx *gorm.DB, t model.Ticket, fate *Fate) error {
	decided, err := findDecided(tx, t.Item, t.Seq, t.Seq)
	if err != nil {
		return err
	}
	for _, d := range decided {
		// A win has an order of its own. Without one it is of another ticket: this one was lost with the queue's data, and
		// its buyer was given the number again in a later epoch.
		if d.Seq == t.Seq && d.Buyer == t.Buyer.Hash() && d.Verdict != model.Won {
			fate.Verdict = d.Verdict
		}
	}
	if fate.Verdict != model.Duplicate {
		return nil
	}
	order, err := buyerOrder(tx, t.Item, t.Buyer)
	if errors.Is(err, model.ErrNotFound) {
		return nil
	}
	fate.Order = &order
	return err
}
