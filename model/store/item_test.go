package store

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"seckill/model"
)

func TestItemsKeepEveryFieldToTheMillisecond(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		for _, ends := range []model.Instant{0, 1_793_494_800_123} {
			want := createItem(t, s, func(i *model.Item) {
				*i = model.Item{Title: "茶🍵 \"x\" \\'", Description: "2026-01-02 03:04:05", ImageURL: "/a.png",
					Price: model.Money{Amount: model.MaxAmount, Currency: "JPY"}, Stock: model.MaxStock, PerBuyerLimit: 1000,
					PayWithin: 86_400, StartsAt: 1_774_749_600_001, EndsAt: ends, Paused: true, ClosedAt: ends,
					Version: 1, Epoch: 1, CreatedAt: 1_774_749_599_999, UpdatedAt: 1_774_749_600_000}
			})
			if diff := cmp.Diff(want, getItem(t, s, want.ID)); diff != "" {
				t.Error(diff)
			}
		}
		if n := count(t, s, "items WHERE ends_at IS NULL AND closed_at IS NULL"); n != 1 {
			t.Errorf("%d rows with no end as NULL", n)
		}
		if _, err := s.Item(context.Background(), 1); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("unknown item: %v", err)
		}
	})
}

func TestItemsComeInPages(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		var want []model.ID
		for n := range 7 {
			want = append(want, createItem(t, s, func(i *model.Item) { i.StartsAt = model.Instant(n / 3) }).ID)
		}
		for _, limit := range []int{1, 3, 7, 200} {
			var got []model.ID
			for after := ""; ; {
				items, next, err := s.Items(ctx, after, limit)
				if err != nil || len(items) > limit {
					t.Fatal(len(items), err)
				}
				for _, i := range items {
					got = append(got, i.ID)
				}
				if next == "" {
					break
				}
				after = next
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: %v, want %v", limit, got, want)
			}
		}
	})
}

func TestForeignCursorsAreRefused(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		for _, after := range []string{"x", "'", cursor{1, 2}.encode('?'), cursor{1, 2}.encode(itemList) + "A", cursor{1, 2}.encode(itemList)[:20]} {
			_, _, err := s.Items(ctx, after, 1)
			_, _, err2 := s.Orders(ctx, OrderFilter{}, after, 1)
			for _, err := range []error{err, err2} {
				var e *model.Error
				if !errors.As(err, &e) || e.Code != model.CodeInvalid || e.Fields["after"] == "" {
					t.Errorf("after %q: %v", after, err)
				}
			}
		}
		if _, _, err := s.Orders(ctx, OrderFilter{}, cursor{1, 2}.encode(itemList), 1); err == nil {
			t.Error("orders took a cursor of items")
		}
	})
}

func TestItemsNotOverBefore(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		at := func(closed, ends model.Instant) model.ID {
			return createItem(t, s, func(i *model.Item) { i.ClosedAt, i.EndsAt = closed, ends }).ID
		}
		want := []model.ID{at(0, 0), at(0, 100), at(100, 0), at(100, 100)}
		at(99, 0)
		at(0, 99)
		at(99, 200)
		if s.dialect.journal {
			behind := at(50, 50)
			if err := s.AppendJournal(context.Background(), behind, 1, [][]byte{[]byte("x")}); err != nil {
				t.Fatal(err)
			}
			want = append(want, behind)
		}
		items, err := s.ItemsNotOverBefore(context.Background(), 100)
		var got []model.ID
		for _, i := range items {
			got = append(got, i.ID)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	})
}

func TestEditItemWritesOnlyWhatAnEditMay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s)
		edited, err := s.EditItem(ctx, item.ID, 1, func(i model.Item) (model.Item, error) {
			return model.Item{ID: 77, Title: "New", Description: "d", ImageURL: "/i", Price: model.Money{Amount: 5, Currency: "EUR"},
				Stock: 1, Available: 1, PerBuyerLimit: 3, PayWithin: 4, StartsAt: 5, EndsAt: 6, Paused: true, ClosedAt: 7,
				Version: 99, Epoch: 99, Decided: 99, SetAside: 99, CreatedAt: 99, UpdatedAt: 8}, nil
		})
		want := model.Item{ID: item.ID, Title: "New", Description: "d", ImageURL: "/i", Price: model.Money{Amount: 5, Currency: "EUR"},
			Stock: 10, Available: 10, PerBuyerLimit: 3, PayWithin: 4, StartsAt: 5, EndsAt: 6, Version: 2, Epoch: 1,
			CreatedAt: 1, UpdatedAt: 8}
		if diff := cmp.Diff(want, edited); diff != "" || err != nil {
			t.Error(diff, err)
		}

		var stale *model.Error
		_, err = s.EditItem(ctx, item.ID, 1, func(i model.Item) (model.Item, error) { return i, errors.New("asked in vain") })
		if !errors.As(err, &stale) || stale.Code != model.CodeChanged || stale.Item == nil || *stale.Item != want {
			t.Errorf("stale edit: %v", err)
		}
		if _, err := s.EditItem(ctx, item.ID, 2, func(i model.Item) (model.Item, error) { return i, model.ErrSaleStarted }); err != model.ErrSaleStarted {
			t.Errorf("refused edit: %v", err)
		}
		if _, err := s.EditItem(ctx, 1, 1, nil); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("unknown item: %v", err)
		}
		if got := getItem(t, s, item.ID); got != want {
			t.Errorf("after refusals: %+v", got)
		}
	})
}

func TestStockGoesByDelta(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 3 })
		decide(t, s, item.ID, entry(1, "a", 2))
		after, err := s.AdjustStock(ctx, item.ID, -1, "one broke")
		if err != nil || after.Stock != 2 || after.Available != 0 || after.Version != 3 {
			t.Errorf("%+v, %v", after, err)
		}
		if n := count(t, s, "stock_changes WHERE item_id = ? AND delta = -1 AND reason = 'one broke'", item.ID); n != 1 {
			t.Errorf("%d notes", n)
		}
		if _, err := s.AdjustStock(ctx, item.ID, -1, ""); !errors.Is(err, model.ErrStockBelowLive) {
			t.Errorf("below live: %v", err)
		}
		var e *model.Error
		if _, err := s.AdjustStock(ctx, item.ID, model.MaxStock-1, ""); !errors.As(err, &e) || e.Fields["delta"] == "" {
			t.Errorf("above all: %v", err)
		}
		if got := getItem(t, s, item.ID); got != after || count(t, s, "stock_changes") != 1 {
			t.Errorf("after refusals: %+v", got)
		}
		if after, err = s.AdjustStock(ctx, item.ID, model.MaxStock-2, ""); err != nil || after.Stock != model.MaxStock {
			t.Errorf("%+v, %v", after, err)
		}
	})
}

func TestPauseAndCloseAreIdempotent(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.EndsAt = 100 })
		for _, step := range []struct {
			do      func() (model.Item, error)
			version int64
			paused  bool
			closed  model.Instant
			err     error
		}{
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, false, 50) }, 1, false, 0, nil},
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, true, 51) }, 2, true, 0, nil},
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, true, 52) }, 2, true, 0, nil},
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, false, 53) }, 3, false, 0, nil},
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, true, 100) }, 3, false, 0, model.ErrEnded},
			{func() (model.Item, error) { return s.CloseItem(ctx, item.ID, 101) }, 4, false, 101, nil},
			{func() (model.Item, error) { return s.CloseItem(ctx, item.ID, 102) }, 4, false, 101, nil},
			{func() (model.Item, error) { return s.SetPaused(ctx, item.ID, true, 60) }, 4, false, 101, model.ErrEnded},
		} {
			after, err := step.do()
			got := getItem(t, s, item.ID)
			if !errors.Is(err, step.err) || err == nil && after != got {
				t.Errorf("%+v, %v; in SQL %+v", after, err, got)
			}
			if got.Version != step.version || got.Paused != step.paused || got.ClosedAt != step.closed {
				t.Errorf("want %+v, got %+v", step, got)
			}
		}
	})
}

func TestLedgersAddUp(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item, idle := createItem(t, s), createItem(t, s)
		decide(t, s, item.ID, entry(1, "a", 2), entry(2, "b", 1), entry(3, "c", 2))
		exec(t, s, "UPDATE orders SET status = 'paid' WHERE seq = 1")
		exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL WHERE seq = 3")
		got, err := s.Ledgers(context.Background(), item.ID, idle.ID, 12345)
		slices.SortFunc(got, func(a, b Ledger) int { return int(a.Item - b.Item) })
		want := []Ledger{{item.ID, 10, 5, 1, 2}, {idle.ID, 10, 10, 0, 0}}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if got, err := s.Ledgers(context.Background()); err != nil || len(got) != 0 {
			t.Errorf("none asked for: %v, %v", got, err)
		}
	})
}
