package store

import (
	"context"
	"testing"

	"seckill/model"
)

// createItem publishes an item with a stock of 10, open since 1970, as with changes it.
func createItem(t testing.TB, s *Store, with ...func(*model.Item)) model.Item {
	t.Helper()
	item := model.Item{Title: "Tea", Price: model.Money{Amount: 1234, Currency: "CNY"}, Stock: 10, PerBuyerLimit: 2,
		PayWithin: 900, StartsAt: 1, Version: 1, Epoch: 1, CreatedAt: 1, UpdatedAt: 1}
	for _, f := range with {
		f(&item)
	}
	item.Available = item.Stock
	item, err := s.CreateItem(context.Background(), item)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

// entry is a click in epoch 1.
func entry(seq int64, buyer string, quantity int) model.Entry {
	return model.Entry{Epoch: 1, Seq: seq, At: model.Instant(seq), Quantity: quantity, Buyer: model.Buyer(buyer)}
}
