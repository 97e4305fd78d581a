package store

import (
	"math"

	"gorm.io/gorm"
)

// run is numbers without a gap that were decided in one epoch.
type run struct{ epoch, from, to int64 }

// extend notes the numbers of the next decision.
func (l *itemLine) extend(d decisionRow) {
	if n := len(l.runs) - 1; n >= 0 && l.runs[n].epoch == d.Epoch && d.FromSeq <= l.runs[n].to+1 {
		l.runs[n].to = max(l.runs[n].to, d.ToSeq)
		return
	}
	l.runs = append(l.runs, run{d.Epoch, d.FromSeq, d.ToSeq})
}

// findStrays finds the item's orders whose number no decision of their epoch reaches, nor one of a later epoch, in which
// a queue that was kept goes on: a part of I4. It asks for the gaps between decisions, of which an honest line has next
// to none, and not for each order whether it is in one: that would take its time for each of them.
func (l *itemLine) findStrays(tx *gorm.DB) error {
	for _, epoch := range l.epochs {
		reached := int64(math.MinInt64)
		for _, r := range l.runs {
			if r.epoch < epoch {
				continue
			}
			if r.from > reached+1 {
				if err := l.addStrays(tx, epoch, reached, r.from); err != nil {
					return err
				}
			}
			reached = max(reached, r.to)
		}
		if err := l.addStrays(tx, epoch, reached, math.MaxInt64); err != nil {
			return err
		}
	}
	return nil
}

// addStrays notes the item's orders of an epoch with numbers between after and before.
func (l *itemLine) addStrays(tx *gorm.DB, epoch, after, before int64) error {
	type stray struct {
		No  string
		Seq int64
	}
	query := tx.Raw("SELECT no, seq FROM orders WHERE item_id = ? AND epoch = ? AND seq > ? AND seq < ? ORDER BY seq",
		l.item.ID, epoch, after, before)
	return eachRow(query, func(o stray) {
		l.verdicts.add(l.item.ID, o.No, "no decision of epoch %d reaches its number %d", epoch, o.Seq)
	})
}
