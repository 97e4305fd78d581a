package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"seckill/model"
)

func TestOrdersAreChosenAndPaged(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		x, y := createItem(t, s), createItem(t, s)
		for n := int64(1); n <= 6; n++ {
			decide(t, s, x.ID, entry(n, fmt.Sprint("b", n), 1))
			decide(t, s, y.ID, entry(n, fmt.Sprint("b", n), 1))
		}
		exec(t, s, "UPDATE orders SET created_at = 1000 + (seq - seq % 2) / 2")
		exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL, cancelled_at = 5, cancel_reason = 'buyer', refund = 'due' WHERE seq = 6")
		for _, c := range []struct {
			name string
			f    OrderFilter
			want int
		}{
			{"all", OrderFilter{}, 12}, {"item", OrderFilter{Item: x.ID}, 6}, {"buyer", OrderFilter{Buyer: "b2"}, 2},
			{"buyer and item", OrderFilter{Buyer: "b2", Item: y.ID}, 1}, {"bytewise", OrderFilter{Buyer: "B2"}, 0},
			{"status", OrderFilter{Status: model.OrderCancelled}, 2}, {"from", OrderFilter{From: 1002}, 6},
			{"to", OrderFilter{To: 1002}, 6}, {"no", OrderFilter{No: "1 OR 1=1"}, 0},
		} {
			var got []model.Order
			for after := ""; ; {
				page, next, err := s.Orders(ctx, c.f, after, 2)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if after = next; after == "" {
					break
				}
			}
			newestFirst := slices.IsSortedFunc(got, func(a, b model.Order) int {
				if a.CreatedAt != b.CreatedAt {
					return int(b.CreatedAt - a.CreatedAt)
				}
				return int(b.ID - a.ID)
			})
			if len(got) != c.want || !newestFirst {
				t.Errorf("%s: %d orders, newest first %v", c.name, len(got), newestFirst)
			}
			var each []model.Order
			err := s.EachOrder(ctx, c.f, func(o model.Order) error { each = append(each, o); return nil })
			if err != nil || !cmp.Equal(got, each) {
				t.Errorf("%s: each differs from the pages, %v", c.name, err)
			}
		}
		cancelled, err := s.BuyerOrder(ctx, x.ID, "b6")
		if err != nil || cancelled.CancelledAt != 5 || cancelled.CancelReason != "buyer" || cancelled.Refund != "due" || cancelled.PaidAt != 0 {
			t.Errorf("%+v, %v", cancelled, err)
		}
		if _, err := s.BuyerOrder(ctx, x.ID, "nobody"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no order: %v", err)
		}
		if _, err := s.Order(ctx, "nothing"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("no order: %v", err)
		}
	})
}

func TestTheLiveOrderComesBeforeNewerOnes(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		for n := int64(1); n <= 3; n++ {
			decide(t, s, item.ID, entry(n, "a", 1))
			exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL, created_at = seq")
		}
		for _, want := range []int64{3, 1} { // the newest, then the live one
			order, err := s.BuyerOrder(context.Background(), item.ID, "a")
			if err != nil || order.Seq != want {
				t.Errorf("order %d, %v; want %d", order.Seq, err, want)
			}
			exec(t, s, "UPDATE orders SET status = 'paid', live = 1 WHERE seq = 1")
		}
	})
}
