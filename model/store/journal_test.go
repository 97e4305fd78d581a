package store

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"seckill/model"
)

func TestTheJournalKeepsAnyBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 20).Draw(t, "lines")
		b := encodeGroup(lines)
		for n, line := range decodeGroup(b, len(lines)) {
			if line == nil || !bytes.Equal(line, lines[n]) {
				t.Fatalf("line %d: %q, want %q", n, line, lines[n])
			}
		}
		// Cut short, it gives what is whole and nil for the rest, never another line.
		cut := rapid.IntRange(0, len(b)-1).Draw(t, "cut")
		got := decodeGroup(b[:cut], len(lines))
		if len(got) != len(lines) || got[len(lines)-1] != nil {
			t.Fatalf("cut at %d: %d lines", cut, len(got))
		}
		for n, line := range got {
			if line != nil && !bytes.Equal(line, lines[n]) {
				t.Fatalf("cut at %d, line %d: %q", cut, n, line)
			}
		}
	})
}

func TestDecisionsForgetWholeGroupsOfTheJournal(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := onSQLite.open(t, Options{})
	item, other := createItem(t, s), createItem(t, s)
	lines := func(from, to int) (group [][]byte) {
		for n := from; n <= to; n++ {
			group = append(group, fmt.Appendf(nil, "line\x00|%d", n))
		}
		return group
	}
	for _, g := range []struct {
		item     model.ID
		from, to int
	}{{item.ID, 1, 2}, {item.ID, 3, 5}, {item.ID, 6, 6}, {other.ID, 1, 1}} {
		if err := s.AppendJournal(ctx, g.item, int64(g.from), lines(g.from, g.to)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AppendJournal(ctx, item.ID, 6, lines(6, 6)); err == nil {
		t.Error("one number was kept twice")
	}
	decide(t, s, item.ID, entry(1, "a", 1), entry(2, "b", 1), entry(3, "c", 1))
	got, err := s.LoadJournal(ctx, item.ID)
	want := []model.EntryGroup{{From: 3, Lines: lines(3, 5)}, {From: 6, Lines: lines(6, 6)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	exec(t, s, "UPDATE journal SET entries = substr(entries, 1, 15) WHERE item_id = ? AND from_seq = 3", item.ID)
	want[0].Lines[1], want[0].Lines[2] = nil, nil
	got, err = s.LoadJournal(ctx, item.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error("cut short:", diff, err)
	}
	if got, err = s.LoadJournal(ctx, other.ID); err != nil || len(got) != 1 {
		t.Errorf("the other item: %v, %v", got, err)
	}
}

func TestLoadHoldersAndDecisions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		item := createItem(t, s, func(i *model.Item) { i.Stock = 1000 })
		const batches = decisionPage + 3
		for n := int64(1); n <= batches; n++ {
			decide(t, s, item.ID, entry(n, fmt.Sprint("b", n), 1))
		}
		exec(t, s, "UPDATE orders SET status = 'paid' WHERE seq = 1")
		exec(t, s, "UPDATE orders SET status = 'cancelled', live = NULL WHERE seq = 2")
		holders, err := s.LoadHolders(ctx, item.ID)
		if err != nil || len(holders) != batches-1 {
			t.Errorf("%d holders, %v", len(holders), err)
		}
		next := int64(1)
		err = s.LoadDecisions(ctx, item.ID, func(d model.Decision) error {
			want := model.Decided{Seq: next, Verdict: model.Won, Quantity: 1, Buyer: model.Buyer(fmt.Sprint("b", next)).Hash()}
			if d.Item != item.ID || d.Epoch != 1 || d.At == 0 || len(d.Tickets) != 1 || d.Tickets[0] != want {
				return fmt.Errorf("%+v, want %+v", d, want)
			}
			next++
			return nil
		})
		if err != nil || next != batches+1 {
			t.Errorf("%d decisions, %v", next-1, err)
		}
	})
}
