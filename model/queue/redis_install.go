package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"seckill/model"
)

const (
	// installTries is how often Install looks, before it leaves the rest to its next call.
	installTries = 4
	// othersTime is how long Install leaves to another process that seems to be at it.
	othersTime = time.Second
)

// Install implements Queue. An item that Redis does not know, or knows from another life, or under another epoch than
// SQL, is put under the next epoch: allocated in SQL, from where on no batch of an older one can be decided, and then
// told to Redis. What survived of the epoch right before is kept. Any number of processes may do so at once; it may take
// some seconds then. The row of the call serves where the item stands already.
func (r *Redis) Install(ctx context.Context, item model.Item) error {
	epoch, stands, err := r.epoch(ctx, item.ID)
	if err != nil {
		return err
	}
	if stands && epoch == item.Epoch {
		return r.Mirror(ctx, item)
	}
	for try := range installTries {
		if try > 0 {
			if err := pause(ctx, othersTime); err != nil {
				return unavailable(item.ID, "install", err)
			}
		}
		if done, err := r.rebuild(ctx, item, try == 0); err != nil || done {
			return err
		}
	}
	return unavailable(item.ID, "install", errors.New("others are at it"))
}

// rebuild is one try. False: wait, and try again. A patient one leaves the epoch that SQL is ahead by to whoever seems to
// be between SQL and Redis: an epoch more would be a gap.
func (r *Redis) rebuild(ctx context.Context, item model.Item, patient bool) (bool, error) {
	row, err := r.epochs.Item(ctx, item.ID)
	if err != nil {
		return false, fmt.Errorf("install item %s: %w", item.ID, err)
	}
	epoch, stands, err := r.epoch(ctx, item.ID)
	switch {
	case err != nil:
		return false, err
	case stands && epoch == row.Epoch:
		return true, r.Mirror(ctx, row)
	case epoch != 0 && epoch != row.Epoch && patient:
		return false, nil
	}
	return r.nextEpoch(ctx, row, epoch)
}

// epoch is the item's epoch in Redis, zero for none, and whether its state stands.
func (r *Redis) epoch(ctx context.Context, item model.ID) (epoch int64, stands bool, err error) {
	if r.over() {
		return 0, false, model.ErrUnavailable
	}
	got, err := r.run(ctx, call{r.scripts.progress, itemKeys(item), nil})
	switch {
	case err != nil:
		return 0, false, unavailable(item, "look at the epoch", err)
	case got.word() == "missing":
		return 0, false, nil
	}
	if epoch, err = got.whole(1); err != nil {
		return 0, false, unavailable(item, "look at the epoch", err)
	}
	return epoch, got.word() == "ok", nil
}

// Reconcile implements Queue.
func (r *Redis) Reconcile(ctx context.Context, item model.ID) error {
	p, err := r.progress(ctx, item)
	if err != nil {
		return err
	}
	row, err := r.epochs.Item(ctx, item)
	if err != nil {
		return fmt.Errorf("reconcile item %s: %w", item, err)
	}
	if p.Epoch == 0 || p.Version <= row.Version {
		return nil
	}
	r.log.Error("SQL has lost commits: the mirror in Redis is newer than the item, and is overwritten",
		"item", item, "redis", p.Version, "sql", row.Version)
	return r.mirror(ctx, true, row)
}

// nextEpoch puts the item under the epoch after row's, and after the one in Redis.
func (r *Redis) nextEpoch(ctx context.Context, row model.Item, above int64) (bool, error) {
	next, ok, err := r.epochs.NextEpoch(ctx, row.ID, row.Epoch)
	for err == nil && ok && next.Epoch <= above { // SQL was set back
		next, ok, err = r.epochs.NextEpoch(ctx, row.ID, next.Epoch)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("install item %s: %w", row.ID, err)
	case !ok:
		return false, nil
	}
	return r.sendInstall(ctx, next)
}

// sendInstall tells Redis of an epoch that this process has allocated. It is sent once: without a reply nobody knows
// whether it has run, and another epoch is needed.
func (r *Redis) sendInstall(ctx context.Context, row model.Item) (bool, error) {
	if r.over() {
		return false, model.ErrUnavailable
	}
	args := append([]any{r.channel, row.Epoch, row.Decided}, rowArgs(row)...)
	got, err := r.run(ctx, call{r.scripts.install, itemKeys(row.ID), args})
	if err != nil {
		return false, unavailable(row.ID, "install", err)
	}
	if i, ok := r.known(row.ID); ok {
		i.clear()
	}
	if got.word() == "newer" {
		return false, nil
	}
	r.log.Info("queue installed", "item", row.ID, "epoch", row.Epoch, "kept", got.word() == "kept")
	return true, nil
}

// progress is one item's.
func (r *Redis) progress(ctx context.Context, item model.ID) (Progress, error) {
	all, err := r.Progress(ctx, item)
	if err != nil {
		return Progress{}, err
	}
	return all[0], nil
}

// pause waits, or returns why ctx has ended.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
