package store

import (
	"gorm.io/gorm"

	"seckill/model"
)

// maxGap is the most numbers without a ticket that a decision row spans; behind a larger gap a new row begins, so that
// a number out of all bounds does not make a row of all bytes there are.
const maxGap = 1000

// decisionRow is the row of table decisions.
type decisionRow struct {
	ItemID        model.ID
	FromSeq       int64
	ToSeq         int64
	Epoch         int64
	PerBuyerLimit int
	Available     int64 // before the decision
	Version       int64 // after the decision
	Closed        bool
	Tickets       []byte
	CreatedAt     model.Instant `gorm:"autoCreateTime:false"`
}

// TableName names the table for gorm.
func (decisionRow) TableName() string { return "decisions" }

// decision is the row with its tickets read.
func (r decisionRow) decision() (model.Decision, error) {
	tickets, err := model.DecodeTickets(r.FromSeq, r.Tickets)
	return model.Decision{Item: r.ItemID, Epoch: r.Epoch, Tickets: tickets, At: r.CreatedAt}, err
}

// insertDecision keeps the tickets, rising, in one row like row: more only where a gap is out of bounds.
func insertDecision(tx *gorm.DB, row decisionRow, tickets []model.Decided) error {
	for len(tickets) > 0 {
		n := 1
		for n < len(tickets) && tickets[n].Seq-tickets[n-1].Seq <= maxGap {
			n++
		}
		row.FromSeq, row.ToSeq = tickets[0].Seq, tickets[n-1].Seq
		row.Tickets = model.EncodeTickets(tickets[:n])
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		for _, t := range tickets[:n] {
			if t.Verdict == model.Won {
				row.Available -= int64(t.Quantity)
			}
		}
		tickets = tickets[n:]
	}
	return nil
}

// findDecided is the item's decided tickets of the decisions that touch the numbers from lo to hi. Decisions of an item
// never overlap.
func findDecided(db *gorm.DB, item model.ID, lo, hi int64) ([]model.Decided, error) {
	var rows []decisionRow
	first := db.Session(&gorm.Session{NewDB: true}).Model(&decisionRow{}).
		Select("COALESCE(MAX(from_seq), 0)").Where("item_id = ? AND from_seq <= ?", item, lo)
	err := db.Where("item_id = ? AND from_seq >= (?) AND from_seq <= ?", item, first, hi).Order("from_seq").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	var all []model.Decided
	for _, row := range rows {
		d, err := row.decision()
		if err != nil {
			return nil, err
		}
		all = append(all, d.Tickets...)
	}
	return all, nil
}
