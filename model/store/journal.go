package store

import (
	"context"

	"seckill/model"
)

// AppendJournal implements queue.Journal: one row a group.
func (s *Store) AppendJournal(ctx context.Context, item model.ID, from int64, entries [][]byte) error {
	panic("todo")
}

// LoadJournal implements queue.Journal.
func (s *Store) LoadJournal(ctx context.Context, item model.ID) ([]model.EntryGroup, error) {
	panic("todo")
}

// LoadHolders implements queue.Journal.
func (s *Store) LoadHolders(ctx context.Context, item model.ID) ([]model.Order, error) { panic("todo") }

// LoadDecisions implements queue.Journal.
func (s *Store) LoadDecisions(ctx context.Context, item model.ID, each func(model.Decision) error) error {
	panic("todo")
}
