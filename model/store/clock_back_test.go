package store

import (
	"fmt"
	"testing"
	"time"

	"seckill/model"
)

// A program that starts again with its clock set back gives no id twice: to SQL that would be an order to refuse, and a
// buyer's ticket would fail with units free.
func TestNoIDComesTwiceAfterTheClockWasSetBack(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		dsn := db.create(t)
		now := time.UnixMilli(1_790_000_000_000)
		var item model.Item
		for n, set := range []time.Duration{0, -time.Hour, 0, -60 * 365 * 24 * time.Hour} {
			start := now.Add(set)
			s := openAt(t, dsn, Options{Now: func() time.Time { return start }})
			if n == 0 {
				item = createItem(t, s)
			} else {
				createItem(t, s)
			}
			seq := int64(n + 1)
			out, err := s.Decide(t.Context(), item.ID, 1, []model.Entry{entry(seq, fmt.Sprint("buyer ", seq), 1)})
			if err != nil || out.Verdicts[0] != model.Won {
				t.Errorf("start %d: %v, %v", n, out.Verdicts, err)
			}
			if _, err := s.AdjustStock(t.Context(), item.ID, 1, ""); err != nil {
				t.Errorf("start %d: %v", n, err)
			}
		}
	})
}
