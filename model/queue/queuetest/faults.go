package queuetest

import (
	"context"
	"errors"
	"sync"

	"seckill/model"
	"seckill/model/queue"
)

var errFault = errors.New("fault on purpose")

// Faults is a journal whose inserts and loads can be made to fail. Without a fault it is the journal behind it.
type Faults struct {
	queue.Journal

	mu   sync.Mutex
	keep func(commit func() error) error
	load func() error
}

// keepBy has every insert go through keep, which may commit or not, and may say what it likes. Nil heals.
func (f *Faults) keepBy(keep func(commit func() error) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep = keep
}

// loadBy has every load of the journal ask load first. Nil heals.
func (f *Faults) loadBy(load func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load = load
}

// AppendJournal implements queue.Journal.
func (f *Faults) AppendJournal(ctx context.Context, item model.ID, from int64, entries [][]byte) error {
	f.mu.Lock()
	keep := f.keep
	f.mu.Unlock()
	if keep == nil {
		return f.Journal.AppendJournal(ctx, item, from, entries)
	}
	// The commit may come late, when neither the context nor the slices are good any more.
	late := make([][]byte, len(entries))
	for n, line := range entries {
		late[n] = append([]byte(nil), line...)
	}
	ctx = context.WithoutCancel(ctx)
	return keep(func() error { return f.Journal.AppendJournal(ctx, item, from, late) })
}

// LoadJournal implements queue.Journal.
func (f *Faults) LoadJournal(ctx context.Context, item model.ID) ([]model.EntryGroup, error) {
	f.mu.Lock()
	load := f.load
	f.mu.Unlock()
	if load != nil {
		if err := load(); err != nil {
			return nil, err
		}
	}
	return f.Journal.LoadJournal(ctx, item)
}
