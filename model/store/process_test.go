package store

import (
	"testing"
	"time"

	"seckill/model"
)

func TestProcessesHaveIDsOfTheirOwn(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		dsn := db.create(t)
		still := func() time.Time { return time.UnixMilli(1_790_000_000_000) }
		seen := map[model.ID]bool{}
		for range 3 {
			seen[openAt(t, dsn, Options{Now: still}).ids.Next()] = true
		}
		if len(seen) != 3 {
			t.Errorf("three processes in one millisecond gave the ids %v", seen)
		}
	})
}

func TestNodeNumbersBeginAgainAndOldStartsAreForgotten(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		exec(t, s, "INSERT INTO processes (id, started_at) VALUES (?, 1), (?, 1)", model.MaxNode-1, model.MaxNode)
		for want := range 2 {
			if node, err := s.takeNode(t.Context()); err != nil || node != want {
				t.Errorf("node %d, %v; want %d", node, err, want)
			}
		}
		if n := count(t, s, "processes"); n != 4 {
			t.Errorf("%d starts are kept", n)
		}
	})
}

// Two processes that have the same node number after all: an id is taken, and the batch is run again with another.
func TestAnIDThatIsTakenFailsNobodysTicket(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		dsn := db.create(t)
		still := func() time.Time { return time.UnixMilli(1_790_000_000_000) }
		a, b := openAt(t, dsn, Options{}), openAt(t, dsn, Options{})
		first, second := createItem(t, a), createItem(t, a)
		a.ids, b.ids = model.NewIDs(7, still), model.NewIDs(7, still)
		wantVerdicts(t, decide(t, a, first.ID, entry(1, "ann", 1), entry(2, "bob", 1)), model.Won, model.Won)
		batch := []model.Entry{entry(1, "cid", 1), entry(2, "dan", 1)}
		out, err := b.Decide(t.Context(), second.ID, 1, batch)
		if err == nil {
			t.Errorf("the ids were not taken: %v", out.Verdicts)
		}
		wantVerdicts(t, decide(t, b, second.ID, batch...), model.Won, model.Won)
	})
}
