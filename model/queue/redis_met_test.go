package queue

import (
	"testing"
	"time"

	"seckill/model"
)

func metQueue(t *testing.T) *Redis {
	t.Helper()
	r, err := OpenRedis(nil, RedisOptions{URL: "redis://127.0.0.1:1/0"}) // never called
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// Who has won elsewhere before the first click here is not told "sold out" from memory.
func TestAWinnerIsMetBeforeTheFirstClick(t *testing.T) {
	t.Parallel()
	r := metQueue(t)
	won := Told{Ticket: model.Ticket{Item: 7, Buyer: "ann"}, Verdict: model.Won}
	lost := Told{Ticket: model.Ticket{Item: 7, Buyer: "bob"}, Verdict: model.SoldOut}
	r.hear(Message{Kind: Settled, Item: 7, Told: []Told{won, lost}})
	i, err := r.item(7)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	i.remember(now)
	if i.remembers("ann", now) {
		t.Error("the winner is told sold out")
	}
	if !i.remembers("bob", now) {
		t.Error("a loser passes memory by")
	}
}

// What is known of items goes when nobody clicks on them any more, however many there are.
func TestIdleItemsAreForgotten(t *testing.T) {
	t.Parallel()
	r := metQueue(t)
	for id := model.ID(1); id <= 3; id++ {
		i, err := r.item(id)
		if err != nil {
			t.Fatal(err)
		}
		if id != 2 {
			i.used = i.used.Add(-idleTime - time.Minute)
		}
	}
	if _, err := r.item(3); err != nil { // it is used again
		t.Fatal(err)
	}
	if _, err := r.item(4); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[model.ID]bool{1: false, 2: true, 3: true, 4: true} {
		if _, ok := r.known(id); ok != want {
			t.Errorf("item %d is known: %v", id, ok)
		}
	}
}
