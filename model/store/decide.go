package store

import (
	"context"
	"errors"

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
// row: orders of the winners, units taken, one decision row with every fresh verdict, decided, and the journal's
// groups that are decided whole. Judging is model.Case's. An order that SQL refuses fails alone: the batch is run again
// without it. A batch that was decided before gets the same verdicts and writes nothing.
// A returned error means that nothing is known: run it again.
func (s *Store) Decide(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) (Outcome, error) {
	panic("todo")
}

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
// number; else the item's epoch. Unknown item: model.ErrNotFound.
func (s *Store) Fate(ctx context.Context, t model.Ticket) (Fate, error) { panic("todo") }
