package model

import (
	"errors"
	"testing"
)

func TestPhaseIsTheFirstThatApplies(t *testing.T) {
	t.Parallel()
	open := Item{StartsAt: 10, EndsAt: 20, Available: 1}
	with := func(f func(*Item)) Item { i := open; f(&i); return i }
	for name, test := range map[string]struct {
		item    Item
		now     Instant
		want    Phase
		refusal error
	}{
		"a moment early":     {open, 9, PhaseUpcoming, ErrNotStarted},
		"at the start":       {open, 10, PhaseOpen, nil},
		"the last moment":    {open, 19, PhaseOpen, nil},
		"at the end":         {open, 20, PhaseEnded, ErrEnded},
		"without an end":     {with(func(i *Item) { i.EndsAt = 0 }), 1 << 40, PhaseOpen, nil},
		"closed beats all":   {with(func(i *Item) { i.ClosedAt, i.Paused, i.Available = 1, true, 0 }), 9, PhaseEnded, ErrEnded},
		"upcoming, paused":   {with(func(i *Item) { i.Paused = true }), 9, PhaseUpcoming, ErrNotStarted},
		"paused, sold out":   {with(func(i *Item) { i.Paused, i.Available = true, 0 }), 15, PhasePaused, ErrPaused},
		"nothing is left":    {with(func(i *Item) { i.Available = 0 }), 15, PhaseSoldOut, ErrSoldOut},
		"less than nothing":  {with(func(i *Item) { i.Available = -1 }), 15, PhaseSoldOut, ErrSoldOut},
		"over and sold out":  {with(func(i *Item) { i.Available = 0 }), 25, PhaseEnded, ErrEnded},
		"no start was given": {Item{Available: 1}, 1, PhaseOpen, nil},
	} {
		if got := test.item.Phase(test.now); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if err := test.item.Gate().Refuses(test.now); !errors.Is(err, test.refusal) {
			t.Errorf("%s: %v, want %v", name, err, test.refusal)
		}
	}
}
