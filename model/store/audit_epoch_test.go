package store

import (
	"slices"
	"testing"

	"seckill/model"
)

// A queue that goes on in its next epoch is decided there; its tickets and their orders keep the epoch they began in.
func TestAuditKnowsTicketsOfAnEpochBefore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		sell(t, s, item.ID, entry(1, "ann", 1))
		damage(t, s, "UPDATE items SET epoch = 2 WHERE id = @a", item.ID, 0)
		late := entry(3, "cid", 1)
		late.Epoch = 2
		out, err := s.Decide(t.Context(), item.ID, 2, []model.Entry{entry(2, "bob", 1), late})
		if err != nil || !slices.Equal(out.Verdicts, []model.Verdict{model.Won, model.Won}) {
			t.Fatalf("%v, %v", out.Verdicts, err)
		}
		for _, c := range mustAudit(t, s) {
			if !c.OK {
				t.Errorf("%s: %+v", c.Promise, c.Breaches)
			}
		}

		damage(t, s, `INSERT INTO orders (id, no, item_id, buyer, quantity, amount, status, epoch, seq, created_at, expires_at)
		SELECT 1, 'COPY', item_id, X'64', 1, 1, 'cancelled', 2, 2, 1, 1 FROM orders WHERE item_id = @a AND seq = 2`, item.ID, 0)
		for _, c := range mustAudit(t, s) {
			if c.OK != (c.Promise != "I4") {
				t.Errorf("with two orders of a number, %s: %+v", c.Promise, c.Breaches)
			}
		}
	})
}
