package sale_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

func TestPublishOpensTheQueue(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	v, err := s.Publish(ctx, s.draft(3))
	must(t, err)
	if v.Phase != model.PhaseUpcoming || v.Stock != 3 || v.Available != 3 || v.Version < 1 || v.Pending != 0 {
		t.Errorf("published %+v", v)
	}
	s.pass(time.Hour)
	s.buy(t, v.ID, "b")
	s.buy(t, v.ID, "c")
	got, err := s.AdminItem(ctx, v.ID)
	must(t, err)
	if got.Phase != model.PhaseOpen || got.Queued != 2 {
		t.Errorf("with two in line: %+v", got)
	}
	s.sell(t, v.ID)
	ledger, err := s.Ledger(ctx, v.ID)
	must(t, err)
	if want := (sale.LedgerView{Stock: 3, Available: 1, Pending: 2}); ledger != want {
		t.Errorf("ledger %+v, want %+v", ledger, want)
	}
	page, err := s.AdminItems(ctx, "", 50)
	must(t, err)
	if len(page.Rows) != 1 || page.Rows[0].Pending != 2 || page.Rows[0].Available != 1 {
		t.Errorf("listed %+v", page.Rows)
	}
}

func TestPublishRefusesWrongFields(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	_, err := s.Publish(context.Background(), model.Draft{Currency: ptr("XXQ"), Stock: ptr(int64(-1))})
	var e *model.Error
	if !errors.As(err, &e) || e.Code != model.CodeInvalid {
		t.Fatalf("error %v", err)
	}
	got := slices.Sorted(maps.Keys(e.Fields))
	if want := []string{"price.amount", "price.currency", "stock", "title"}; !slices.Equal(got, want) {
		t.Errorf("wrong fields %v, want %v", got, want)
	}
	page, err := s.Items(context.Background(), "", 50)
	must(t, err)
	if len(page.Rows) != 0 {
		t.Errorf("stored %+v", page.Rows)
	}
}

func TestChangeStandsWhenTheQueueIsAway(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	s.queue.mirror = errDown
	_, err := s.Pause(ctx, item)
	wantErr(t, err, model.ErrUnavailable)
	s.queue.mirror = nil
	v, err := s.AdminItem(ctx, item)
	must(t, err)
	if !v.Paused {
		t.Error("the pause was not kept")
	}
}

func TestChangeInstallsAnItemThatTheQueueDoesNotKnow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 1)
	must(t, s.queue.Remove(ctx, item))
	_, err := s.AdjustStock(ctx, item, 1, "found one")
	must(t, err)
	s.buy(t, item, "b")
}

func TestChangeOutlivesItsCaller(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	item := s.open(t, 1)
	ctx, hangUp := context.WithCancel(context.Background())
	q := &hook{Queue: s.queue, mirror: func(ctx context.Context) error { hangUp(); return ctx.Err() }}
	if _, err := s.again(q).Pause(ctx, item); err != nil {
		t.Errorf("the queue was not told: %v", err)
	}
}

// hook is a queue whose Mirror is watched.
type hook struct {
	queue.Queue
	mirror func(context.Context) error
}

func (h *hook) Mirror(ctx context.Context, items ...model.Item) error {
	return errors.Join(h.mirror(ctx), h.Queue.Mirror(ctx, items...))
}

func TestEdit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.publish(t, 1)
	v, err := s.AdminItem(ctx, item)
	must(t, err)
	_, err = s.Buy(ctx, item, "b", 2)
	wantErr(t, err, model.ErrNotStarted)
	v2, err := s.Edit(ctx, item, v.Version, model.Draft{PerBuyerLimit: ptr(int64(5)), Amount: ptr(int64(1))})
	must(t, err)
	if v2.PerBuyerLimit != 5 || v2.Price.Amount != 1 || v2.Version <= v.Version {
		t.Errorf("edited %+v", v2)
	}
	_, err = s.Buy(ctx, item, "b", 5) // within the second for which the item is kept
	wantErr(t, err, model.ErrNotStarted)
	_, err = s.Edit(ctx, item, v.Version, model.Draft{Title: ptr("Old")})
	wantErr(t, err, &model.Error{Code: model.CodeChanged})
	s.pass(time.Hour)
	_, err = s.Edit(ctx, item, v2.Version, model.Draft{Amount: ptr(int64(2))})
	wantErr(t, err, model.ErrSaleStarted)
}

func TestAdjustStockRefusesWrongFields(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.publish(t, 3)
	for _, delta := range []int64{0, model.MaxStock + 1, -model.MaxStock - 1, 1 << 62, -1 << 63} {
		_, err := s.AdjustStock(ctx, item, delta, "")
		wantErr(t, err, &model.Error{Code: model.CodeInvalid})
	}
	_, err := s.AdjustStock(ctx, item, 1, strings.Repeat("é", 201))
	wantErr(t, err, &model.Error{Code: model.CodeInvalid})
	_, err = s.AdjustStock(ctx, item, -4, "")
	wantErr(t, err, model.ErrStockBelowLive)
	v, err := s.AdjustStock(ctx, item, -3, strings.Repeat("é", 200))
	must(t, err)
	if v.Stock != 0 || v.Available != 0 {
		t.Errorf("stock %d, available %d", v.Stock, v.Available)
	}
}

func TestEachOrderStopsWithItsReader(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStand(t)
	item := s.open(t, 2)
	s.buy(t, item, "a")
	s.buy(t, item, "b")
	s.sell(t, item)
	var buyers []model.Buyer
	must(t, s.EachOrder(ctx, store.OrderFilter{Item: item}, func(o sale.AdminOrderView) error {
		buyers = append(buyers, o.Buyer)
		return nil
	}))
	if !slices.Equal(buyers, []model.Buyer{"b", "a"}) {
		t.Errorf("orders of %v, want the newest first", buyers)
	}
	err := s.EachOrder(ctx, store.OrderFilter{}, func(sale.AdminOrderView) error { return errDown })
	wantErr(t, err, errDown)
}
