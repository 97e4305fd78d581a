package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"seckill/model"
)

func decide(t testing.TB, s *Store, item model.ID, entries ...model.Entry) Outcome {
	t.Helper()
	out, err := s.Decide(context.Background(), item, 1, entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantVerdicts(t testing.TB, out Outcome, want ...model.Verdict) {
	t.Helper()
	if !slices.Equal(out.Verdicts, want) {
		t.Errorf("verdicts %v, want %v", out.Verdicts, want)
	}
}

func getItem(t testing.TB, s *Store, id model.ID) model.Item {
	t.Helper()
	item, err := s.Item(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// exec runs SQL as an outsider would.
func exec(t testing.TB, s *Store, sql string, args ...any) {
	t.Helper()
	if err := s.writer.Exec(sql, args...).Error; err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, s *Store, from string, args ...any) (n int) {
	t.Helper()
	if err := s.reader.Raw("SELECT COUNT(*) FROM "+from, args...).Scan(&n).Error; err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDecideGivesEachEntryItsVerdictInOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 4 })
		before, err := s.Now(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		out := decide(t, s, item.ID,
			entry(1, "a", 2), entry(2, "a", 1), entry(3, "b", 3), entry(4, "c", 1),
			model.Entry{Seq: 5, Err: model.ErrUnreadable}, entry(6, "d", 2), entry(7, "e", 1))
		wantVerdicts(t, out, model.Won, model.Duplicate, model.SoldOut, model.Won, model.Failed, model.SoldOut, model.Won)

		want := item
		want.Available, want.Version, want.Decided, want.SetAside = 0, 2, 7, 1
		if diff := cmp.Diff(want, out.Item); diff != "" || out.Fresh != 7 {
			t.Errorf("fresh %d, item after: %s", out.Fresh, diff)
		}
		if diff := cmp.Diff(want, getItem(t, s, item.ID)); diff != "" {
			t.Errorf("item in SQL: %s", diff)
		}
		order := out.Orders[1]
		after, _ := s.Now(context.Background())
		if order.CreatedAt < before || order.CreatedAt > after {
			t.Errorf("created at %d, not between %d and %d", order.CreatedAt, before, after)
		}
		wantOrder := model.Order{ID: order.ID, No: order.No, Item: item.ID, Title: "Tea", Buyer: "a", Quantity: 2,
			Amount: model.Money{Amount: 2468, Currency: "CNY"}, Status: model.OrderPending, Epoch: 1, Seq: 1,
			CreatedAt: order.CreatedAt, ExpiresAt: order.CreatedAt.Add(900 * time.Second)}
		if diff := cmp.Diff(wantOrder, order); diff != "" || len(order.No) != 26 || len(out.Orders) != 3 {
			t.Errorf("%d orders, the first: %s", len(out.Orders), diff)
		}
		kept, err := s.Order(context.Background(), order.No)
		if diff := cmp.Diff(order, kept); diff != "" || err != nil {
			t.Errorf("order in SQL: %s %v", diff, err)
		}
	})
}

func TestDecideAgainGivesTheSameAndWritesNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		batch := []model.Entry{entry(1, "a", 2), entry(2, "a", 1), {Seq: 3, Err: model.ErrUnreadable}, entry(4, "b", 3), entry(5, "c", 1)}
		first := decide(t, s, item.ID, batch...)
		// What has happened since changes no verdict: a's units are back on sale, and the item is closed.
		exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL WHERE buyer = ?", []byte("a"))
		exec(t, s, "UPDATE items SET available = available + 2, version = version + 1, closed_at = 5")
		changes := count(t, s, "decisions")
		again := decide(t, s, item.ID, batch...)
		wantVerdicts(t, again, first.Verdicts...)
		if again.Fresh != 0 || len(again.Orders) != 2 || count(t, s, "decisions") != changes || count(t, s, "orders") != 2 {
			t.Errorf("again: fresh %d, orders %d", again.Fresh, len(again.Orders))
		}
		// A part of it, with new ones behind it.
		more := decide(t, s, item.ID, batch[2], batch[3], batch[4], entry(6, "z", 1))
		wantVerdicts(t, more, model.Failed, model.SoldOut, model.Won, model.Ended)
		if more.Fresh != 1 || more.Item.Decided != 6 || more.Item.SetAside != 1 {
			t.Errorf("more: fresh %d, item %+v", more.Fresh, more.Item)
		}
		// Another's number tells nobody its verdict.
		wantVerdicts(t, decide(t, s, item.ID, entry(1, "b", 1), entry(5, "x", 1)), model.SoldOut, model.SoldOut)
	})
}

func TestDecideObeysEpochPauseAndClose(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s)
		if _, err := s.Decide(ctx, item.ID, 2, []model.Entry{entry(1, "a", 1)}); !errors.Is(err, ErrEpoch) {
			t.Errorf("other epoch: %v", err)
		}
		if _, err := s.Decide(ctx, item.ID+1, 1, nil); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("other item: %v", err)
		}
		if _, err := s.SetPaused(ctx, item.ID, true, 2); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(ctx, item.ID, 1, []model.Entry{entry(1, "a", 1)}); !errors.Is(err, ErrPaused) {
			t.Errorf("paused: %v", err)
		}
		if count(t, s, "orders")+count(t, s, "decisions") != 0 {
			t.Error("something was written")
		}
		if _, err := s.CloseItem(ctx, item.ID, 3); err != nil {
			t.Fatal(err)
		}
		wantVerdicts(t, decide(t, s, item.ID, entry(1, "a", 1)), model.Ended)
		if after := getItem(t, s, item.ID); after.Available != 10 || after.Decided != 1 || after.Version != 3 {
			t.Errorf("item %+v", after)
		}
	})
}

func TestDecideSetsRefusedOrdersAside(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 2 })
		exec(t, s, db.poison)
		// The units that bad does not get go to the next in line; bad, refused, is refused once more behind it.
		batch := []model.Entry{entry(1, "a", 1), entry(2, "bad", 1), entry(3, "b", 1), entry(4, "bad", 1), {Err: model.ErrUnreadable}}
		out := decide(t, s, item.ID, batch...)
		wantVerdicts(t, out, model.Won, model.Failed, model.Won, model.SoldOut, model.Failed)
		if out.Item.SetAside != 2 || out.Item.Available != 0 || out.Item.Decided != 4 || count(t, s, "orders") != 2 {
			t.Errorf("item %+v", out.Item)
		}
		exec(t, s, "DROP TRIGGER poison")
		wantVerdicts(t, decide(t, s, item.ID, batch[:4]...), out.Verdicts[:4]...)
	})
}

func TestAnOutageIsNoRefusal(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		exec(t, s, "CREATE TRIGGER broken BEFORE INSERT ON orders FOR EACH ROW BEGIN INSERT INTO away VALUES (1); END")
		if out, err := s.Decide(context.Background(), item.ID, 1, []model.Entry{entry(1, "a", 1)}); err == nil {
			t.Errorf("decided %v", out.Verdicts)
		}
		exec(t, s, "DROP TRIGGER broken")
		wantVerdicts(t, decide(t, s, item.ID, entry(1, "a", 1)), model.Won)
	})
}

func TestDecideTwiceAtOnceAgrees(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 25 })
		var batch []model.Entry
		for n := int64(1); n <= 100; n++ {
			batch = append(batch, entry(n, fmt.Sprint("buyer", n%40), 1))
		}
		outs := make([]Outcome, 4)
		var wg sync.WaitGroup
		for n := range outs {
			wg.Go(func() {
				out, err := s.Decide(context.Background(), item.ID, 1, batch)
				if err != nil {
					t.Error(err)
				}
				outs[n] = out
			})
		}
		wg.Wait()
		fresh := 0
		for _, out := range outs {
			fresh += out.Fresh
			wantVerdicts(t, out, outs[0].Verdicts...)
		}
		if fresh != len(batch) || count(t, s, "orders") != 25 || getItem(t, s, item.ID).Available != 0 {
			t.Errorf("fresh %d, orders %d", fresh, count(t, s, "orders"))
		}
	})
}

func TestACancelledContextIsAllOrNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		// The context ends in the middle: when the orders are in and the item is not.
		ctx, cancel := context.WithCancel(context.Background())
		err := s.writer.Callback().Update().Before("gorm:update").Register("cut", func(*gorm.DB) { cancel() })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(ctx, item.ID, 1, []model.Entry{entry(1, "a", 1)}); !errors.Is(err, context.Canceled) {
			t.Errorf("cut off: %v", err)
		}
		if err := s.writer.Callback().Update().Remove("cut"); err != nil {
			t.Fatal(err)
		}
		if count(t, s, "orders")+count(t, s, "decisions") != 0 || getItem(t, s, item.ID) != item {
			t.Error("a half was written")
		}
		wantVerdicts(t, decide(t, s, item.ID, entry(1, "a", 1)), model.Won)
	})
}

func TestBuyersAreComparedBytewise(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		out := decide(t, s, item.ID, entry(1, "abc", 1), entry(2, "ABC", 1), entry(3, "abc ", 1), entry(4, "àbc", 1), entry(5, "abc", 1))
		wantVerdicts(t, out, model.Won, model.Won, model.Won, model.Won, model.Duplicate)
		order, err := s.BuyerOrder(context.Background(), item.ID, "abc ")
		if err != nil || order.Seq != 3 {
			t.Errorf("order %+v, %v", order, err)
		}
	})
}

func TestADecisionSpansNoGapOutOfBounds(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		decide(t, s, item.ID, entry(1, "a", 1), entry(3, "b", 1), entry(1<<62, "c", 1))
		var seqs []int64
		err := s.LoadDecisions(context.Background(), item.ID, func(d model.Decision) error {
			for _, ticket := range d.Tickets {
				seqs = append(seqs, ticket.Seq)
			}
			return nil
		})
		if err != nil || !slices.Equal(seqs, []int64{1, 3, 1 << 62}) {
			t.Errorf("%v, %v", seqs, err)
		}
	})
}

func TestFate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 1 })
		decide(t, s, item.ID, entry(1, "a", 1), entry(2, "a", 1))
		decide(t, s, item.ID, entry(3, "b", 1))
		exec(t, s, "UPDATE items SET epoch = 2")
		for _, c := range []struct {
			seq     int64
			buyer   model.Buyer
			verdict model.Verdict
			order   bool
		}{
			{1, "a", model.Won, true}, {2, "a", model.Duplicate, true}, {3, "b", model.SoldOut, false},
			{1, "b", 0, false}, {3, "a", 0, false}, {4, "a", 0, false},
		} {
			fate, err := s.Fate(ctx, model.Ticket{Item: item.ID, Epoch: 1, Seq: c.seq, Buyer: c.buyer})
			if err != nil || fate.Verdict != c.verdict || (fate.Order != nil) != c.order || fate.Epoch != 2 {
				t.Errorf("%d of %s: %+v, %v", c.seq, c.buyer, fate, err)
			}
		}
		if _, err := s.Fate(ctx, model.Ticket{Item: 1, Epoch: 1, Seq: 1, Buyer: "a"}); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("unknown item: %v", err)
		}
	})
}
