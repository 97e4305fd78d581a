package store

import (
	"testing"

	"seckill/model"
)

// A queue that has lost its data gives the numbers above decided again. A buyer whose ticket was lost may get the very
// number again in a later epoch, and win with it: the win is of the new ticket alone.
func TestALostTicketIsNotItsNumberGivenAgain(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx, s := t.Context(), db.open(t, Options{})
		item := createItem(t, s)
		lost := model.Ticket{Item: item.ID, Epoch: 1, Seq: 1, Quantity: 1, Buyer: "ann"}
		if _, ok, err := s.NextEpoch(ctx, item.ID, 1); err != nil || !ok {
			t.Fatal(ok, err)
		}
		again := entry(1, "ann", 1)
		again.Epoch = 2
		out, err := s.Decide(ctx, item.ID, 2, []model.Entry{again})
		if err != nil {
			t.Fatal(err)
		}
		wantVerdicts(t, out, model.Won)
		if fate, err := s.Fate(ctx, lost); err != nil || fate.Verdict != 0 || fate.Order != nil {
			t.Errorf("the lost ticket: %+v, %v", fate, err)
		}
		won := lost
		won.Epoch = 2
		if fate, err := s.Fate(ctx, won); err != nil || fate.Verdict != model.Won || fate.Order == nil {
			t.Errorf("the ticket that won: %+v, %v", fate, err)
		}
	})
}
