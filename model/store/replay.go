package store

import (
	"fmt"
	"math"
	"sort"

	"gorm.io/gorm"

	"seckill/model"
)

// auditPage is how many decisions an audit reads at a time, with the orders of their numbers.
const auditPage = 64

// itemLine is an audit's way along the decisions of one item, by number.
type itemLine struct {
	*audit
	item    auditItem
	from    int64           // of the latest decision
	tickets []model.Decided // of the latest decision
	to      int64           // the highest of all decisions
	epoch   int64           // of the latest decision
	version int64           // of the latest decision
}

// checkDecisions holds I4, I5, I7 and the second half of I2 for one item.
func (a *audit) checkDecisions(tx *gorm.DB, item auditItem) error {
	line := itemLine{audit: a, item: item, from: math.MinInt64}
	var epochs []int64
	if err := tx.Model(&orderRow{}).Where("item_id = ?", item.ID).Distinct().Pluck("epoch", &epochs).Error; err != nil {
		return fmt.Errorf("epochs of orders: %w", err)
	}
	for {
		var page []decisionRow
		err := tx.Where("item_id = ? AND from_seq > ?", item.ID, line.from).
			Order("from_seq").Limit(auditPage).Find(&page).Error
		if err != nil {
			return fmt.Errorf("decisions: %w", err)
		}
		if len(page) == 0 {
			line.end()
			return nil
		}
		orders, err := ordersOf(tx, page, epochs)
		if err != nil {
			return fmt.Errorf("orders of decisions: %w", err)
		}
		for _, d := range page {
			line.add(d, orders)
		}
	}
}

// auditOrder is what a decision tells of an order.
type auditOrder struct {
	No       string
	Epoch    int64
	Seq      int64
	Quantity int
	Buyer    model.Buyer
}

// ordersOf is the orders, of any status, from the first to the last number of the page, rising; epochs is all that there
// are, for the index of orders begins with them.
func ordersOf(tx *gorm.DB, page []decisionRow, epochs []int64) ([]auditOrder, error) {
	last := page[0].ToSeq
	for _, d := range page {
		last = max(last, d.ToSeq)
	}
	var orders []auditOrder
	err := tx.Raw(`
		SELECT no, epoch, seq, quantity, buyer FROM orders
		WHERE item_id = ? AND epoch IN ? AND seq BETWEEN ? AND ? ORDER BY seq, epoch`,
		page[0].ItemID, epochs, page[0].FromSeq, last).Scan(&orders).Error
	return orders, err
}

// add checks the next decision: against those before it, against the orders of its numbers, and by itself.
func (l *itemLine) add(d decisionRow, orders []auditOrder) {
	l.follow(d)
	tickets, err := model.DecodeTickets(d.FromSeq, d.Tickets)
	if err != nil || len(tickets) == 0 || tickets[0].Seq != d.FromSeq || tickets[len(tickets)-1].Seq != d.ToSeq {
		l.verdicts.add(l.item.ID, "", "%d bytes are not the verdicts of the numbers %d to %d", len(d.Tickets), d.FromSeq, d.ToSeq)
		return
	}
	l.differ(tickets)
	l.match(d, tickets, orders)
	l.redo(d, tickets)
	l.tickets = tickets
}

// follow holds I7: a decision comes after those before it.
func (l *itemLine) follow(d decisionRow) {
	if d.FromSeq <= l.to {
		l.line.add(l.item.ID, "", "the decision of %d to %d overlaps one up to %d", d.FromSeq, d.ToSeq, l.to)
	}
	if d.Epoch < l.epoch {
		l.line.add(l.item.ID, "", "the decision of %d to %d is of epoch %d, after one of epoch %d", d.FromSeq, d.ToSeq, d.Epoch, l.epoch)
	}
	if d.Version < l.version {
		l.line.add(l.item.ID, "", "the decision of %d to %d is of version %d, after one of version %d", d.FromSeq, d.ToSeq, d.Version, l.version)
	}
	l.from, l.to = d.FromSeq, max(l.to, d.ToSeq)
	l.epoch, l.version = d.Epoch, d.Version
}

// end holds the item itself against its last decision: a part of I7.
func (l *itemLine) end() {
	if l.item.Decided != l.to {
		l.line.add(l.item.ID, "", "numbers are decided up to %d, but the item says %d", l.to, l.item.Decided)
	}
	if l.item.Epoch < l.epoch {
		l.line.add(l.item.ID, "", "the item is in epoch %d, after a decision of epoch %d", l.item.Epoch, l.epoch)
	}
	if l.item.Version < l.version {
		l.line.add(l.item.ID, "", "the item is of version %d, after a decision of version %d", l.item.Version, l.version)
	}
}

// differ finds the numbers that the decision before has a verdict for too: a part of I4.
func (l *itemLine) differ(tickets []model.Decided) {
	for _, t := range tickets {
		n := sort.Search(len(l.tickets), func(n int) bool { return l.tickets[n].Seq >= t.Seq })
		if n == len(l.tickets) {
			return // rising: so is every further one
		}
		if l.tickets[n].Seq == t.Seq {
			l.verdicts.add(l.item.ID, "", "number %d has two verdicts, %s and %s", t.Seq, l.tickets[n].Verdict, t.Verdict)
		}
	}
}

// match holds I4, and the second half of I2: the decision's winners and the orders at its numbers are the same. An order
// of an epoch before is as good: a queue that was kept goes on with its tickets in the next.
func (l *itemLine) match(d decisionRow, tickets []model.Decided, orders []auditOrder) {
	n := sort.Search(len(orders), func(n int) bool { return orders[n].Seq >= d.FromSeq })
	for _, t := range tickets {
		for ; n < len(orders) && orders[n].Seq < t.Seq; n++ {
			l.verdicts.add(l.item.ID, orders[n].No, "its number %d has no verdict", orders[n].Seq)
		}
		found := false
		for ; n < len(orders) && orders[n].Seq == t.Seq; n++ {
			switch {
			case orders[n].Epoch > d.Epoch: // a stray
			case found:
				l.verdicts.add(l.item.ID, orders[n].No, "its number %d has another order", t.Seq)
			default:
				found = true
				l.compare(d, t, orders[n])
			}
		}
		if !found && t.Verdict == model.Won {
			l.verdicts.add(l.item.ID, "", "number %d of epoch %d has won and has no order", t.Seq, d.Epoch)
		}
	}
}

// compare holds an order against the verdict of its number.
func (l *itemLine) compare(d decisionRow, t model.Decided, o auditOrder) {
	switch {
	case t.Verdict != model.Won:
		l.verdicts.add(l.item.ID, o.No, "its number %d was told %s", t.Seq, t.Verdict)
	case o.Quantity != t.Quantity:
		l.verdicts.add(l.item.ID, o.No, "it is of %d units, its number %d has won %d", o.Quantity, t.Seq, t.Quantity)
	case o.Buyer.Hash() != t.Buyer:
		l.verdicts.add(l.item.ID, o.No, "its number %d was won by another buyer", t.Seq)
	case o.Quantity > d.PerBuyerLimit:
		l.holders.add(l.item.ID, o.No, "it is of %d units, the limit was %d", o.Quantity, d.PerBuyerLimit)
	}
}

// redo holds I5: it decides again, as far as SQL can tell.
func (l *itemLine) redo(d decisionRow, tickets []model.Decided) {
	left, limit := d.Available, d.PerBuyerLimit
	for _, t := range tickets {
		switch t.Verdict {
		case model.Won:
			left -= int64(t.Quantity)
			if left < 0 {
				l.replay.add(l.item.ID, "", "number %d has won %d units, %d were left", t.Seq, t.Quantity, left+int64(t.Quantity))
			}
		case model.SoldOut:
			if int64(t.Quantity) <= left && t.Quantity <= limit {
				l.replay.add(l.item.ID, "", "number %d was told sold_out for %d units, %d were left", t.Seq, t.Quantity, left)
			}
		case model.Ended:
			if !d.Closed {
				l.replay.add(l.item.ID, "", "number %d was told ended while the item was open", t.Seq)
			}
		}
	}
}
