package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

const (
	// keepOver is how long the queue keeps an item after its end, for those who ask for their tickets.
	keepOver = 24 * time.Hour
	// sweepTime is how long one sweep may take.
	sweepTime = 10 * time.Second
)

// standing is an item as SQL has it, and how far its queue is. The row was read first, so the queue is never older.
type standing struct {
	item     model.Item
	progress queue.Progress
}

// Adopt installs the queue of every item that is not over. Call it before the first click; Run calls it again. An item
// that can not be installed, because its rows are damaged, is logged and keeps no other from being sold; an error means
// that the items could not be read, or that ctx has ended.
func (s *Sellers) Adopt(ctx context.Context) error {
	now, err := s.queue.Now(ctx)
	if err != nil {
		return fmt.Errorf("gate's clock: %w", err)
	}
	kept, err := s.adopt(ctx, now)
	switch {
	case kept == nil || ctx.Err() != nil:
		return err
	case err != nil:
		s.log.Error("items not adopted, will try again", "error", err)
	}
	return nil
}

// runOnce is one sweep: what is missing is installed, what is behind is brought up to date, each item that needs a
// seller has one, and what is over is cleared away. The sellers that it starts run until ctx ends.
func (s *Sellers) runOnce(ctx context.Context) (err error) {
	defer recovered(&err, s.log, s.metrics)
	bounded, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	now, err := s.queue.Now(bounded)
	if err != nil {
		return fmt.Errorf("gate's clock: %w", err)
	}
	kept, err := s.adopt(bounded, now)
	for _, st := range kept {
		s.staff(ctx, st, now)
	}
	if kept == nil {
		return err
	}
	return errors.Join(err, s.clear(bounded, kept))
}

// adopt makes the queue agree with SQL on every item that it has to keep at now. It returns those items even when
// it could not do so for all of them, and nil when it could not read them.
func (s *Sellers) adopt(ctx context.Context, now model.Instant) ([]standing, error) {
	kept, err := s.kept(ctx, now)
	if err != nil {
		return nil, err
	}
	var behind []model.Item
	var errs []error
	for _, st := range kept {
		switch {
		case st.progress.Epoch != st.item.Epoch:
			if err := s.queue.Install(ctx, st.item); err != nil {
				errs = append(errs, fmt.Errorf("install item %s: %w", st.item.ID, err))
			}
		case st.progress.Version < st.item.Version:
			behind = append(behind, st.item)
		}
	}
	if len(behind) > 0 {
		if err := s.queue.Mirror(ctx, behind...); err != nil {
			errs = append(errs, fmt.Errorf("mirror %d items: %w", len(behind), err))
		}
	}
	return kept, errors.Join(errs...)
}

// kept is every item whose queue has to be kept at now.
func (s *Sellers) kept(ctx context.Context, now model.Instant) ([]standing, error) {
	items, err := s.store.ItemsNotOverBefore(ctx, now.Add(-keepOver))
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	ids := make([]model.ID, len(items))
	for n, item := range items {
		ids[n] = item.ID
	}
	progress, err := s.queue.Progress(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	kept := make([]standing, len(items))
	for n, item := range items {
		kept[n] = standing{item, progress[n]}
	}
	return kept, nil
}

// staff starts, wakes or ends an item's seller. What an install has just brought back is not in the progress; the
// message of the install wakes the seller, and so does the next sweep.
func (s *Sellers) staff(ctx context.Context, st standing, now model.Instant) {
	s.known[st.item.ID] = true
	waiting := st.progress.Queued > 0
	if !waiting && st.item.Phase(now) == model.PhaseEnded {
		s.stop(st.item.ID)
		return
	}
	staffed := s.start(ctx, st.item.ID)
	paused := st.item.Paused && st.item.ClosedAt == 0
	if waiting && !paused {
		staffed.wake()
	}
}

// clear removes from the queue what it need not keep any more: items that have left kept, once they are empty.
func (s *Sellers) clear(ctx context.Context, kept []standing) error {
	keep := make(map[model.ID]bool, len(kept))
	for _, st := range kept {
		keep[st.item.ID] = true
	}
	for id := range s.known {
		if keep[id] {
			continue
		}
		if err := s.remove(ctx, id); err != nil {
			return fmt.Errorf("remove item %s: %w", id, err)
		}
	}
	return nil
}

// remove makes the queue forget an item, unless tickets of it are still undecided: then their seller goes on.
func (s *Sellers) remove(ctx context.Context, id model.ID) error {
	progress, err := s.queue.Progress(ctx, id)
	if err != nil {
		return err
	}
	if progress[0].Queued > 0 {
		if running, ok := s.running[id]; ok {
			running.wake()
		}
		return nil
	}
	s.stop(id)
	if err := s.queue.Remove(ctx, id); err != nil {
		return err
	}
	delete(s.known, id)
	return nil
}
