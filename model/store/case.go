package store

import (
	"math"

	"gorm.io/gorm"

	"seckill/model"
)

// loadCase reads what a batch is judged by, under the lock of item.
func loadCase(tx *gorm.DB, item model.Item, entries []model.Entry) (model.Case, error) {
	c := model.Case{Item: item, Orders: map[int64]model.Order{}, Decided: map[int64]model.Verdict{},
		Live: map[model.Buyer]bool{}, Refused: map[int64]bool{}}
	b := surveyBatch(entries)
	if len(b.buyers) > 0 {
		if err := loadOrders(tx, &c, b); err != nil {
			return model.Case{}, err
		}
		if err := loadLive(tx, &c, b.buyers); err != nil {
			return model.Case{}, err
		}
	}
	if b.lo > item.Decided {
		return c, nil
	}
	return c, loadVerdicts(tx, &c, b)
}

// place is a ticket without its item.
type place struct {
	epoch, seq int64
	buyer      model.Buyer
}

// batch is what the entries of a batch have in common.
type batch struct {
	lo, hi  int64 // the lowest and the highest number; without numbers, lo is above hi
	epochs  []int64
	buyers  [][]byte
	places  map[place]bool
	numbers map[int64][]model.BuyerHash // zero: the entry can not be read
}

func surveyBatch(entries []model.Entry) batch {
	b := batch{lo: math.MaxInt64, places: map[place]bool{}, numbers: map[int64][]model.BuyerHash{}}
	epochs, buyers := map[int64]bool{}, map[model.Buyer]bool{}
	for _, e := range entries {
		if e.Seq > 0 {
			b.lo, b.hi = min(b.lo, e.Seq), max(b.hi, e.Seq)
			b.numbers[e.Seq] = append(b.numbers[e.Seq], hashOf(e))
		}
		if e.Err != nil {
			continue
		}
		b.places[place{e.Epoch, e.Seq, e.Buyer}] = true
		if !epochs[e.Epoch] {
			epochs[e.Epoch] = true
			b.epochs = append(b.epochs, e.Epoch)
		}
		if !buyers[e.Buyer] {
			buyers[e.Buyer] = true
			b.buyers = append(b.buyers, []byte(e.Buyer))
		}
	}
	return b
}

// hashOf is the hash of the entry's buyer, zero for an entry that can not be read.
func hashOf(e model.Entry) model.BuyerHash {
	if e.Err != nil {
		return model.BuyerHash{}
	}
	return e.Buyer.Hash()
}

// loadOrders reads the orders, of any status, of the batch's own tickets.
func loadOrders(tx *gorm.DB, c *model.Case, b batch) error {
	orders, err := findOrders(tx.Where("item_id = ? AND epoch IN ? AND seq BETWEEN ? AND ?", c.Item.ID, b.epochs, b.lo, b.hi))
	if err != nil {
		return err
	}
	for _, order := range orders {
		if b.places[place{order.Epoch, order.Seq, order.Buyer}] {
			c.Orders[order.Seq] = order
		}
	}
	return nil
}

// loadLive reads which of the buyers have a live order.
func loadLive(tx *gorm.DB, c *model.Case, buyers [][]byte) error {
	var live [][]byte
	err := tx.Model(&orderRow{}).Where("item_id = ? AND live = 1 AND buyer IN ?", c.Item.ID, buyers).
		Pluck("buyer", &live).Error
	if err != nil {
		return err
	}
	for _, buyer := range live {
		c.Live[model.Buyer(buyer)] = true
	}
	return nil
}

// loadVerdicts reads what the decisions say of the batch's own tickets.
func loadVerdicts(tx *gorm.DB, c *model.Case, b batch) error {
	decided, err := findDecided(tx, c.Item.ID, b.lo, b.hi)
	if err != nil {
		return err
	}
	for _, d := range decided {
		for _, hash := range b.numbers[d.Seq] {
			if hash == d.Buyer {
				c.Decided[d.Seq] = d.Verdict
			}
		}
	}
	return nil
}
