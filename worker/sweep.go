package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

const (
	// keepOver is how long the queue keeps an item after its end, for those who ask for their tickets.
	keepOver = 24 * time.Hour
	// sweepTime is how long one sweep may take.
	sweepTime = 10 * time.Second
	// ownersTime is how long the repair of a queue is left to its owner.
	ownersTime = 3 * time.Second
)

// standing is an item as SQL has it, and how far its queue is. The row was read first, so the queue is never older.
type standing struct {
	item     model.Item
	progress queue.Progress
}

// Adopt installs the queue of every item that is not over and is this worker's. Call it before the first click; Run
// calls it again. An item that can not be installed, because its rows are damaged, is logged and keeps no other from being
// sold; an error means that the items could not be read, or that ctx has ended.
func (s *Sellers) Adopt(ctx context.Context) error {
	now, err := s.begin(ctx)
	if err != nil {
		return err
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

// begin is the gate's clock. It sees to it that this worker knows who lives.
func (s *Sellers) begin(ctx context.Context) (model.Instant, error) {
	now, err := s.queue.Now(ctx)
	if err != nil {
		return 0, fmt.Errorf("gate's clock: %w", err)
	}
	if s.owners.known() {
		return now, nil
	}
	if err := s.beatOnce(ctx); err != nil {
		return 0, fmt.Errorf("first beat: %w", err)
	}
	return now, nil
}

// runOnce is one sweep: what is missing is installed, what is behind is brought up to date, each item of this worker's
// that needs a seller has one, and what is over is cleared away. The sellers that it starts run until ctx ends.
func (s *Sellers) runOnce(ctx context.Context) (err error) {
	defer recovered(&err, s.log, s.metrics)
	bounded, cancel := context.WithTimeout(ctx, sweepTime)
	defer cancel()
	now, err := s.begin(bounded)
	if err != nil {
		return err
	}
	kept, err := s.adopt(bounded, now)
	for _, st := range kept {
		s.staff(ctx, st, now)
	}
	if kept == nil {
		return err
	}
	return errors.Join(err, s.clear(ctx, bounded, kept))
}

// adopt makes the queue agree with SQL on every item that it has to keep at now. It returns those items even when
// it could not do so for all of them, and nil when it could not read them.
func (s *Sellers) adopt(ctx context.Context, now model.Instant) ([]standing, error) {
	kept, err := s.kept(ctx, now)
	if err != nil {
		return nil, err
	}
	var behind []model.Item
	repairs := repairs{sellers: s}
	repairs.SetLimit(repairsAtOnce)
	for _, st := range kept {
		mine := s.owners.owns(st.item.ID)
		stands := st.progress.Epoch == st.item.Epoch
		switch {
		case s.mayInstall(st.item.ID, stands, mine):
			repairs.do(func() error { return wrap("install", st.item.ID, s.queue.Install(ctx, st.item)) })
		case !stands || !mine:
		case st.progress.Version < st.item.Version:
			behind = append(behind, st.item)
		case st.progress.Version > st.item.Version:
			repairs.do(func() error { return wrap("reconcile", st.item.ID, s.queue.Reconcile(ctx, st.item.ID)) })
		}
	}
	if len(behind) > 0 {
		if err := s.queue.Mirror(ctx, behind...); err != nil {
			repairs.failed(fmt.Errorf("mirror %d items: %w", len(behind), err))
		}
	}
	return kept, repairs.wait()
}

// mayInstall reports whether this worker is to install an item's queue that does not stand: the owner at once, anybody
// after three seconds, in which the owner may have died.
func (s *Sellers) mayInstall(item model.ID, stands, mine bool) bool {
	if stands {
		delete(s.bad, item)
		return false
	}
	since, seen := s.bad[item]
	if !seen {
		since = time.Now()
		s.bad[item] = since
	}
	return mine || time.Since(since) > ownersTime
}

// kept is every item whose queue has to be kept at now.
func (s *Sellers) kept(ctx context.Context, now model.Instant) ([]standing, error) {
	items, err := s.store.ItemsNotOverBefore(ctx, now.Add(-keepOver))
	if err != nil {
		return nil, fmt.Errorf("read items: %w", err)
	}
	progress, err := s.queue.Progress(ctx, idsOf(items)...)
	if err != nil {
		return nil, fmt.Errorf("read progress: %w", err)
	}
	kept := make([]standing, len(items))
	for n, item := range items {
		kept[n] = standing{item, progress[n]}
	}
	return kept, nil
}

func idsOf(items []model.Item) []model.ID {
	ids := make([]model.ID, len(items))
	for n, item := range items {
		ids[n] = item.ID
	}
	return ids
}

// staff starts, wakes or ends an item's seller. What an install has just brought back is not in the progress; the
// message of the install wakes the seller, and so does the next sweep.
func (s *Sellers) staff(ctx context.Context, st standing, now model.Instant) {
	s.known[st.item.ID] = true
	waiting := st.progress.Queued > 0
	if !s.owners.owns(st.item.ID) || !waiting && st.item.Phase(now) == model.PhaseEnded {
		s.stop(st.item.ID)
		return
	}
	staffed := s.start(ctx, st.item.ID)
	paused := st.item.Paused && st.item.ClosedAt == 0
	if waiting && !paused {
		staffed.wake()
	}
}

// clear removes from the queue what it need not keep any more: items that have left kept, once they are empty. Sellers
// of those that are not run until ctx ends; bounded is for the calls.
func (s *Sellers) clear(ctx, bounded context.Context, kept []standing) error {
	if err := s.seed(bounded); err != nil {
		return err
	}
	left := maps.Clone(s.known)
	for _, st := range kept {
		delete(left, st.item.ID)
	}
	progress, err := s.queue.Progress(bounded, slices.Collect(maps.Keys(left))...)
	if err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for _, p := range progress {
		if p.Queued > 0 {
			if s.owners.owns(p.Item) {
				s.start(ctx, p.Item).wake()
			}
			continue
		}
		if err := s.remove(bounded, p.Item); err != nil {
			return fmt.Errorf("remove item %s: %w", p.Item, err)
		}
	}
	return nil
}

// seed has known begin with the items that were over before this worker began and that the queue still keeps: their last
// worker may have died before it could clear them away.
func (s *Sellers) seed(ctx context.Context) error {
	if s.seeded {
		return nil
	}
	items, err := s.store.ItemsNotOverBefore(ctx, 0)
	if err != nil {
		return fmt.Errorf("read items: %w", err)
	}
	progress, err := s.queue.Progress(ctx, idsOf(items)...)
	if err != nil {
		return fmt.Errorf("read progress: %w", err)
	}
	for _, p := range progress {
		if p.Epoch != 0 {
			s.known[p.Item] = true
		}
	}
	s.seeded = true
	return nil
}

// remove makes the queue forget an item.
func (s *Sellers) remove(ctx context.Context, id model.ID) error {
	s.stop(id)
	if err := s.queue.Remove(ctx, id); err != nil {
		return err
	}
	delete(s.known, id)
	delete(s.bad, id)
	return nil
}
