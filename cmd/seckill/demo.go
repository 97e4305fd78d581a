package main

import (
	"context"
	"fmt"
	"time"

	"seckill/model"
	"seckill/model/store"
)

// demoOpens is how long after the start the demo item opens: time to look at the countdown.
const demoOpens = time.Minute

// demo puts an item on sale that opens in a minute, if there is no item at all.
func demo(ctx context.Context, db *store.Store) error {
	items, _, err := db.Items(ctx, "", 1)
	if err != nil {
		return err
	}
	if len(items) > 0 {
		return nil
	}
	now := model.InstantOf(time.Now())
	item, err := demoDraft(now).Item(now, func(string) bool { return true })
	if err != nil {
		return fmt.Errorf("demo item: %w", err)
	}
	_, err = db.CreateItem(ctx, item)
	return err
}

func demoDraft(now model.Instant) model.Draft {
	opens := now.Add(demoOpens)
	return model.Draft{
		Title:       new("Mechanical keyboard, 87 keys (demo)"),
		Description: new("Hot-swappable switches, white backlight. A demo item: it opens a minute after the first start."),
		ImageURL:    new("/static/demo.svg"),
		Amount:      new(int64(19_900)), Currency: new("CNY"),
		Stock: new(int64(100)), StartsAt: &opens,
	}
}
