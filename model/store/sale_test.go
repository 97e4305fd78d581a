package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"seckill/model"
)

// sketch is what a sale has to look like from outside: the rules once more, as plainly as can be, on what was told.
type sketch struct {
	stock  int64
	paused bool
	closed bool
	limit  int
	live   map[model.Buyer]int       // units
	told   map[int64]model.Verdict   // by number
	batch  []model.Entry             // all entries so far
	orders map[int64]model.Order     // of winners, by number
	no     map[string]int64          // numbers of orders, to see that none is given twice
	hashes map[int64]model.BuyerHash // of the entries told
}

func (k *sketch) available() int64 {
	left := k.stock
	for _, units := range k.live {
		left -= int64(units)
	}
	return left
}

// verdict is what a new entry has to be told.
func (k *sketch) verdict(e model.Entry) model.Verdict {
	_, holds := k.live[e.Buyer]
	switch {
	case e.Err != nil:
		return model.Failed
	case k.closed:
		return model.Ended
	case holds:
		return model.Duplicate
	case int64(e.Quantity) > k.available() || e.Quantity > k.limit:
		return model.SoldOut
	}
	k.live[e.Buyer] = e.Quantity
	return model.Won
}

// TestASaleOfRandomActsKeepsItsPromises runs random batches, repeats, edits and releases against the sketch.
func TestASaleOfRandomActsKeepsItsPromises(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		if db.name == onSQLite.name {
			exec(t, s, "PRAGMA synchronous = OFF")
		}
		rapid.Check(t, func(r *rapid.T) {
			ctx := context.Background()
			stock := rapid.Int64Range(0, 12).Draw(r, "stock")
			item := createItem(t, s, func(i *model.Item) { i.Stock = stock })
			k := &sketch{stock: stock, limit: item.PerBuyerLimit, live: map[model.Buyer]int{}, told: map[int64]model.Verdict{},
				orders: map[int64]model.Order{}, no: map[string]int64{}, hashes: map[int64]model.BuyerHash{}}
			acts := map[string]func(*rapid.T){
				"decide": func(r *rapid.T) { k.decide(ctx, r, s, item.ID) },
				"release": func(r *rapid.T) {
					if len(k.live) == 0 {
						return
					}
					buyer := rapid.SampledFrom(slices.Sorted(maps.Keys(k.live))).Draw(r, "buyer")
					exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL WHERE item_id = ? AND buyer = ? AND live = 1",
						item.ID, []byte(buyer))
					exec(t, s, "UPDATE items SET available = available + ?, version = version + 1 WHERE id = ?", k.live[buyer], item.ID)
					delete(k.live, buyer)
				},
				"stock": func(r *rapid.T) {
					delta := rapid.Int64Range(-5, 5).Draw(r, "delta")
					_, err := s.AdjustStock(ctx, item.ID, delta, "")
					if refused := k.available()+delta < 0; refused != (err != nil) {
						r.Fatalf("delta %d with %d available: %v", delta, k.available(), err)
					}
					if err == nil {
						k.stock += delta
					}
				},
				"pause": func(r *rapid.T) {
					paused := rapid.Bool().Draw(r, "paused")
					if _, err := s.SetPaused(ctx, item.ID, paused, 2); err == nil {
						k.paused = paused
					} else if !k.closed {
						r.Fatal(err)
					}
				},
				"close": func(r *rapid.T) {
					if rapid.IntRange(0, 9).Draw(r, "dice") > 0 {
						return
					}
					if _, err := s.CloseItem(ctx, item.ID, 3); err != nil {
						r.Fatal(err)
					}
					k.closed = true
				},
			}
			names := rapid.SampledFrom(slices.Sorted(maps.Keys(acts)))
			for _, name := range rapid.SliceOfN(names, 4, 16).Draw(r, "acts") {
				acts[name](r)
				k.checkUnits(ctx, r, s, item.ID)
			}
			k.checkDecisions(ctx, r, s, item.ID)
		})
	})
}

// decide sends a batch: some entries that were told already, those that a pause has kept waiting, then new ones.
func (k *sketch) decide(ctx context.Context, r *rapid.T, s *Store, item model.ID) {
	first := len(k.told) - rapid.IntRange(0, min(8, len(k.told))).Draw(r, "again")
	for range rapid.IntRange(0, 8).Draw(r, "new") {
		e := entry(int64(len(k.batch)+1), rapid.SampledFrom([]string{"a", "A", "a ", "b", "c", "d"}).Draw(r, "buyer"),
			rapid.IntRange(1, 3).Draw(r, "quantity"))
		if rapid.IntRange(0, 9).Draw(r, "poison") == 0 {
			e = model.Entry{Seq: e.Seq, Err: model.ErrUnreadable}
		}
		k.batch = append(k.batch, e)
	}
	entries := k.batch[first:]
	out, err := s.Decide(ctx, item, 1, entries)
	if k.paused && !k.closed {
		if err == nil {
			r.Fatal("decided while paused")
		}
		return
	}
	if err != nil {
		r.Fatal(err)
	}
	for n, e := range entries {
		want, told := k.told[e.Seq]
		if !told {
			want = k.verdict(e)
			k.told[e.Seq] = want
			k.hashes[e.Seq] = hashOf(e)
		}
		if out.Verdicts[n] != want {
			r.Fatalf("number %d is told %s, want %s", e.Seq, out.Verdicts[n], want)
		}
		k.keep(r, e, out.Orders[e.Seq], want)
	}
}

// keep holds an order against what is known of it: a winner has one, always the same; nobody else has any.
func (k *sketch) keep(r *rapid.T, e model.Entry, order model.Order, v model.Verdict) {
	if v != model.Won {
		if order.No != "" {
			r.Fatalf("number %d, %s, has an order", e.Seq, v)
		}
		return
	}
	old, again := k.orders[e.Seq]
	if order.Buyer != e.Buyer || order.Quantity != e.Quantity || again && order.No != old.No || !again && k.no[order.No] != 0 {
		r.Fatalf("number %d has the order %+v", e.Seq, order)
	}
	k.orders[e.Seq] = order
	k.no[order.No] = e.Seq
}

// checkUnits holds SQL's units and holders against the sketch.
func (k *sketch) checkUnits(ctx context.Context, r *rapid.T, s *Store, id model.ID) {
	ledgers, err := s.Ledgers(ctx, id)
	if err != nil {
		r.Fatal(err)
	}
	if l := ledgers[0]; l.Stock != k.stock || l.Available != k.available() || l.Stock != l.Available+l.Pending+l.Paid || l.Available < 0 {
		r.Fatalf("ledger %+v, want stock %d, available %d", l, k.stock, k.available())
	}
	holders, err := s.LoadHolders(ctx, id)
	if err != nil || len(holders) != len(k.live) {
		r.Fatalf("%d holders, want %d: %v", len(holders), len(k.live), err)
	}
	for _, order := range holders {
		if order.Quantity != k.live[order.Buyer] || order.Quantity > k.limit {
			r.Fatalf("holder %+v", order)
		}
	}
}

// checkDecisions holds the decisions against everything that was told.
func (k *sketch) checkDecisions(ctx context.Context, r *rapid.T, s *Store, id model.ID) {
	all := 0
	err := s.LoadDecisions(ctx, id, func(d model.Decision) error {
		for _, ticket := range d.Tickets {
			all++
			if ticket.Verdict != k.told[ticket.Seq] || ticket.Buyer != k.hashes[ticket.Seq] {
				return fmt.Errorf("decided %+v, told %s", ticket, k.told[ticket.Seq])
			}
		}
		return nil
	})
	if err != nil || all != len(k.told) {
		r.Fatalf("%d decided, %d told: %v", all, len(k.told), err)
	}
}
