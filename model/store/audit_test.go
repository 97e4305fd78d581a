package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"seckill/model"
)

// stall is a store with a sale to damage:
//
//	item a, stock 5, then 8, limit 2
//	  1  b1 won 2         7  b2 won 1
//	  2  b2 won 1, then   8  b5 won 2
//	     cancelled        9  lost
//	  3  b1 duplicate    10  b6 sold out of 2
//	  4  b3 won 2, paid
//	  5  b4 sold out of 1   and after the close
//	  6  failed            11  b7 ended
//	item b, stock 10: 1  b1 won 1
type stall struct {
	*Store
	db   database
	a, b model.ID
}

func newStall(t *testing.T, db database) stall {
	t.Helper()
	s := db.open(t, Options{})
	a := createItem(t, s, func(i *model.Item) { i.Stock = 5 })
	b := createItem(t, s)
	unreadable := model.Entry{Seq: 6, Err: model.ErrUnreadable}
	sell(t, s, a.ID, entry(1, "b1", 2), entry(2, "b2", 1), entry(3, "b1", 1), entry(4, "b3", 2), entry(5, "b4", 1), unreadable)
	sell(t, s, b.ID, entry(1, "b1", 1))
	damage(t, s, "UPDATE orders SET status = 'paid', paid_at = 1 WHERE item_id = @a AND seq = 4", a.ID, b.ID)
	damage(t, s, "UPDATE orders SET status = 'cancelled', live = NULL, cancelled_at = 1 WHERE item_id = @a AND seq = 2", a.ID, b.ID)
	damage(t, s, "UPDATE items SET available = available + 1, version = version + 1 WHERE id = @a", a.ID, b.ID)
	if _, err := s.AdjustStock(t.Context(), a.ID, 3, "a box was found"); err != nil {
		t.Fatal(err)
	}
	sell(t, s, a.ID, entry(7, "b2", 1), entry(8, "b5", 2), entry(10, "b6", 2))
	if _, err := s.CloseItem(t.Context(), a.ID, 1); err != nil {
		t.Fatal(err)
	}
	sell(t, s, a.ID, entry(11, "b7", 1))
	return stall{s, db, a.ID, b.ID}
}

// again is a stall like s, in a database of its own.
func (s stall) again(t *testing.T) stall {
	t.Helper()
	dsn := s.db.create(t)
	s.db.copy(t, s.Store, dsn)
	return stall{openAt(t, dsn, Options{}), s.db, s.a, s.b}
}

func sell(t *testing.T, s *Store, item model.ID, entries ...model.Entry) {
	t.Helper()
	if _, err := s.Decide(context.Background(), item, 1, entries); err != nil {
		t.Fatal(err)
	}
}

// damage runs a statement past all rules, with the items' ids as @a and @b.
func damage(t *testing.T, s *Store, statement string, a, b model.ID) {
	t.Helper()
	db := s.writer.Exec(statement, map[string]any{"a": a, "b": b})
	if db.Error != nil || db.RowsAffected == 0 {
		t.Fatalf("%s: %d rows, %v", statement, db.RowsAffected, db.Error)
	}
}

// copyOrder inserts a second order like that of number 2, cancelled and so without units, with other values of columns.
func copyOrder(epoch, seq int) string {
	return fmt.Sprintf(`
		INSERT INTO orders (id, no, item_id, title, buyer, quantity, amount, currency, status, epoch, seq, created_at, expires_at)
		SELECT id + 1000000, 'COPY', item_id, title, buyer, quantity, amount, currency, status, %d, %d, created_at, expires_at
		FROM orders WHERE item_id = @a AND seq = 2`, epoch, seq)
}

// decision inserts a row of one failed number.
func decision(item string, seq int) string {
	return fmt.Sprintf(`
		INSERT INTO decisions (item_id, from_seq, to_seq, epoch, per_buyer_limit, available, version, closed, tickets, created_at)
		SELECT %s, %d, %d, epoch, per_buyer_limit, available, version, closed, X'0500010000000000000000', created_at
		FROM decisions WHERE item_id = @a AND from_seq = 7`, item, seq, seq)
}

func mustAudit(t *testing.T, s *Store) []Check {
	t.Helper()
	checks, err := s.Audit(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var promises []string
	for _, c := range checks {
		promises = append(promises, c.Promise)
		if c.OK != (len(c.Breaches) == 0) || c.Breaches == nil {
			t.Errorf("%s: ok %v with breaches %v", c.Promise, c.OK, c.Breaches)
		}
	}
	if want := []string{"I1", "I2", "I4", "I5", "I6", "I7"}; !slices.Equal(promises, want) {
		t.Errorf("checks %v, want %v", promises, want)
	}
	return checks
}

func TestAuditOfAnHonestSaleIsClean(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := newStall(t, db)
		// A gap too wide for one decision row makes two of one batch.
		sell(t, s.Store, s.b, entry(2, "b8", 2), entry(5000, "b9", 2), entry(5001, "b10", 2), entry(5002, "b11", 2), entry(9999, "b12", 2))
		for _, c := range mustAudit(t, s.Store) {
			if !c.OK {
				t.Errorf("%s: %v", c.Promise, describe(c.Breaches))
			}
		}
		empty := db.open(t, Options{})
		for _, c := range mustAudit(t, empty) {
			if !c.OK {
				t.Errorf("of nothing: %s: %v", c.Promise, describe(c.Breaches))
			}
		}
	})
}

func TestAuditFindsEachDamage(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		honest := newStall(t, db)
		duplicate := model.EncodeTickets([]model.Decided{{Seq: 1, Verdict: model.Duplicate, Quantity: 1, Buyer: model.Buyer("b1").Hash()}})
		// A breach is "promise item order: part of the detail"; an order is named by its number.
		for name, test := range map[string]struct {
			damage []string
			want   []string
		}{
			"stock below live units": {
				[]string{"UPDATE items SET stock = stock - 2, available = available - 2 WHERE id = @a"},
				[]string{"I1 a -: 7 units are live (5 pending, 2 paid) of a stock of 6; -1 are available"}},
			"two live orders of a buyer": {
				[]string{"UPDATE orders SET status = 'pending' WHERE item_id = @a AND seq = 2",
					"UPDATE items SET available = available - 1 WHERE id = @a"},
				[]string{"I2 a 2: 2 live orders of the item, of 2 units"}},
			"more than the limit": {
				[]string{"UPDATE decisions SET per_buyer_limit = 1 WHERE item_id = @a AND from_seq = 7"},
				[]string{"I2 a 8: it is of 2 units, the limit was 1"}},
			"order of a winner is gone": {
				[]string{"DELETE FROM orders WHERE item_id = @a AND seq = 2"},
				[]string{"I4 a -: number 2 of epoch 1 has won and has no order"}},
			"order of a loser": {
				[]string{copyOrder(1, 5)}, []string{"I4 a COPY: its number 5 was told sold_out"}},
			"order of a duplicate": {
				[]string{copyOrder(1, 3)}, []string{"I4 a COPY: its number 3 was told duplicate"}},
			"order of a lost number": {
				[]string{copyOrder(1, 9)}, []string{"I4 a COPY: its number 9 has no verdict"}},
			"order behind all decisions": {
				[]string{copyOrder(1, 12)}, []string{"I4 a COPY: no decision of epoch 1 reaches its number 12"}},
			"order of another epoch": {
				[]string{copyOrder(2, 2)}, []string{"I4 a COPY: no decision of epoch 2 reaches its number 2"}},
			"order of another item": {
				[]string{"UPDATE orders SET item_id = @b WHERE item_id = @a AND seq = 2"},
				[]string{"I4 a -: number 2 of epoch 1 has won and has no order", "I4 b 2: no decision of epoch 1 reaches its number 2"}},
			"item of orders is gone": {
				[]string{"UPDATE orders SET item_id = 78 WHERE item_id = @b"},
				[]string{"I4 78 -: 1 orders are of an item that does not exist", "I4 b -: number 1 of epoch 1 has won and has no order",
					"I6 b -: stock is 10, but 9 available + 0 pending + 0 paid = 9"}},
			"order before all decisions": {
				[]string{copyOrder(1, 0)}, []string{"I4 a COPY: no decision of epoch 1 reaches its number 0"}},
			"orders between decisions": {
				[]string{"DELETE FROM decisions WHERE item_id = @a AND from_seq = 7"},
				[]string{"I4 a 7: no decision of epoch 1 reaches its number 7", "I4 a 8: no decision of epoch 1 reaches its number 8"}},
			"order of other quantity": {
				[]string{"UPDATE orders SET quantity = 2 WHERE item_id = @a AND seq = 2"},
				[]string{"I4 a 2: it is of 2 units, its number 2 has won 1"}},
			"order of another buyer": {
				[]string{"UPDATE orders SET buyer = X'4232' WHERE item_id = @a AND seq = 2"},
				[]string{"I4 a 2: its number 2 was won by another buyer"}},
			"verdict of a winner is another": {
				[]string{fmt.Sprintf("UPDATE decisions SET tickets = X'%X' WHERE item_id = @b", duplicate)},
				[]string{"I4 b 1: its number 1 was told duplicate"}},
			"verdicts are cut off": {
				[]string{"UPDATE decisions SET tickets = substr(tickets, 1, 11) WHERE item_id = @a AND from_seq = 7"},
				[]string{"I4 a -: 11 bytes are not the verdicts of the numbers 7 to 10"}},
			"verdicts are garbled": {
				[]string{"UPDATE decisions SET tickets = X'01' WHERE item_id = @a AND from_seq = 11"},
				[]string{"I4 a -: 1 bytes are not the verdicts of the numbers 11 to 11"}},
			"a number has two verdicts": {
				[]string{decision("@a", 10)},
				[]string{"I4 a -: number 10 has two verdicts, sold_out and failed",
					"I7 a -: the decision of 10 to 10 overlaps one up to 10"}},
			"turned down for a free unit": {
				[]string{"UPDATE decisions SET available = available + 1 WHERE item_id = @a AND from_seq = 1"},
				[]string{"I5 a -: number 5 was told sold_out for 1 units, 1 were left"}},
			"won more than was free": {
				[]string{"UPDATE decisions SET available = available - 1 WHERE item_id = @a AND from_seq = 1"},
				[]string{"I5 a -: number 4 has won 2 units, 1 were left"}},
			"ended while open": {
				[]string{"UPDATE decisions SET closed = 0 WHERE item_id = @a AND from_seq = 11"},
				[]string{"I5 a -: number 11 was told ended while the item was open"}},
			"a unit is gone": {
				[]string{"UPDATE items SET available = available - 1 WHERE id = @a"},
				[]string{"I6 a -: stock is 8, but 0 available + 5 pending + 2 paid = 7"}},
			"a release without units": {
				[]string{"UPDATE orders SET status = 'cancelled', live = NULL WHERE item_id = @b"},
				[]string{"I6 b -: stock is 10, but 9 available + 0 pending + 0 paid = 9"}},
			"decided lowered": {
				[]string{"UPDATE items SET decided = 10 WHERE id = @a"},
				[]string{"I7 a -: numbers are decided up to 11, but the item says 10"}},
			"last decision is gone": {
				[]string{"DELETE FROM decisions WHERE item_id = @a AND from_seq = 11"},
				[]string{"I7 a -: numbers are decided up to 10, but the item says 11"}},
			"decisions overlap": {
				[]string{decision("@a", 9)}, []string{"I7 a -: the decision of 9 to 9 overlaps one up to 10"}},
			"version fell": {
				[]string{"UPDATE decisions SET version = 1 WHERE item_id = @a AND from_seq = 11"},
				[]string{"I7 a -: the decision of 11 to 11 is of version 1, after one of version 5"}},
			"version of the item fell": {
				[]string{"UPDATE items SET version = 1 WHERE id = @a"},
				[]string{"I7 a -: the item is of version 1, after a decision of version 6"}},
			"epoch fell": {
				[]string{"UPDATE decisions SET epoch = 0 WHERE item_id = @a AND from_seq = 11"},
				[]string{"I7 a -: the decision of 11 to 11 is of epoch 0, after one of epoch 1"}},
			"epoch of the item fell": {
				[]string{"UPDATE items SET epoch = 0 WHERE id = @a"},
				[]string{"I7 a -: the item is in epoch 0, after a decision of epoch 1"}},
			"item of decisions is gone": {
				[]string{decision("77", 1)}, []string{"I7 77 -: 1 decisions are of an item that does not exist"}},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := honest.again(t)
				names := s.names(t)
				for _, statement := range test.damage {
					damage(t, s.Store, statement, s.a, s.b)
				}
				var got []string
				for _, c := range mustAudit(t, s.Store) {
					for _, b := range c.Breaches {
						got = append(got, c.Promise+" "+names.Replace(describe([]Breach{b})))
					}
				}
				same := func(got, want string) bool {
					head, detail, _ := strings.Cut(want, ": ")
					return strings.HasPrefix(got, head+": ") && strings.Contains(got, detail)
				}
				if !slices.EqualFunc(got, test.want, same) {
					t.Errorf("breaches:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
				}
			})
		}
	})
}

// names shortens the items' ids to a and b, and the numbers of orders to those of their tickets.
func (s stall) names(t *testing.T) *strings.Replacer {
	t.Helper()
	names := []string{s.a.String(), "a", s.b.String(), "b"}
	err := s.EachOrder(context.Background(), OrderFilter{}, func(o model.Order) error {
		names = append(names, o.No, fmt.Sprint(o.Seq))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(names...)
}

// describe is a line for each breach: item, order, detail.
func describe(breaches []Breach) string {
	var lines []string
	for _, b := range breaches {
		item, order := "-", "-"
		if b.Item != nil {
			item = b.Item.String()
		}
		if b.Order != nil {
			order = *b.Order
		}
		lines = append(lines, item+" "+order+": "+b.Detail)
	}
	return strings.Join(lines, "\n")
}

// A clean audit during a sale: two sellers decide the same batches of each item, an admin changes the stock, and each
// audit looks through a connection of its own.
func TestAuditDuringASaleIsClean(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		const batches, size = 20, 25
		dsn := db.create(t)
		s := openAt(t, dsn, Options{})
		look := openAt(t, dsn, Options{ReadOnly: true})
		var sale sync.WaitGroup
		for range 2 {
			item := createItem(t, s, func(i *model.Item) { i.Stock = batches * size / 2 })
			for range 2 {
				sale.Go(func() { sellOut(t, s, item.ID, batches, size) })
			}
			sale.Go(func() {
				for range batches {
					if _, err := s.AdjustStock(t.Context(), item.ID, 1, "one more"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		defer sale.Wait()
		over := make(chan struct{})
		go func() { sale.Wait(); close(over) }()
		audits := 0
		for running := true; running; audits++ {
			select {
			case <-over:
				running = false // and once more, at rest
			default:
			}
			for _, c := range mustAudit(t, look) {
				if !c.OK {
					t.Fatalf("audit %d: %s: %s", audits, c.Promise, describe(c.Breaches))
				}
			}
		}
		if audits < 3 {
			t.Errorf("only %d audits ran beside the sale", audits)
		}
	})
}

func sellOut(t *testing.T, s *Store, item model.ID, batches, size int) {
	for n := range batches {
		var entries []model.Entry
		for k := range size {
			seq := int64(n*size + k + 1)
			entries = append(entries, entry(seq, fmt.Sprintf("buyer %d", seq*7%int64(size*batches*3/4)), 1+k%2))
		}
		if _, err := s.Decide(context.Background(), item, 1, entries); err != nil {
			t.Error(err)
			return
		}
	}
}

func TestAuditIsBoundedAndWritesEmptyLists(t *testing.T) {
	t.Parallel()
	f := findings{promise: "I4"}
	if b, err := json.Marshal(f.check()); err != nil || string(b) != `{"promise":"I4","ok":true,"breaches":[]}` {
		t.Errorf("clean check: %s, %v", b, err)
	}
	for n := range maxBreaches + 500 {
		f.add(model.ID(n+1), "", "breach %d", n)
	}
	c := f.check()
	if c.OK || len(c.Breaches) != maxBreaches+1 || c.Breaches[maxBreaches].Detail != "and 500 more" {
		t.Errorf("%d breaches, the last %q", len(c.Breaches), c.Breaches[len(c.Breaches)-1].Detail)
	}
}

func TestAuditCouldNotLook(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		if err := s.write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("DROP TABLE decisions").Error }); err != nil {
			t.Fatal(err)
		}
		if checks, err := s.Audit(t.Context()); err == nil {
			t.Errorf("audit without decisions: %v", checks)
		}
	})
}
