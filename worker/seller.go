package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// batchTime is how long peek, decide and settle of one batch may take. A batch that takes longer is run again; one that
// is under way when the program is told to stop has this long to finish.
const batchTime = 5 * time.Second

// decideFunc is store.Decide.
type decideFunc func(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) (store.Outcome, error)

// seller decides one item's tickets.
type seller struct {
	item    model.ID
	queue   queue.Queue
	peeked  func(ctx context.Context, item model.ID) context.Context // nil for none
	decide  decideFunc
	log     *slog.Logger
	metrics *metrics

	woken   chan struct{} // capacity 1: any number of wake-ups while it works are one
	end     context.CancelFunc
	backoff backoff // only the seller's goroutine touches it
}

// wake has the seller look at its queue, now or as soon as it is done with what it does.
func (s *seller) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// run sells each time the seller is woken, until ctx ends. After a failure it tries again by itself.
func (s *seller) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.woken:
		}
		err := s.runOnce(ctx)
		for err != nil && s.pause(ctx, err) {
			err = s.runOnce(ctx)
		}
	}
}

// pause logs a failure and waits before the next try; false when ctx has ended.
func (s *seller) pause(ctx context.Context, err error) bool {
	s.backoff.fail()
	wait := s.backoff.wait()
	if s.backoff.loud() {
		s.log.Warn("seller failed, will try again", "failures", s.backoff.failures, "wait", wait, "error", err)
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}

// runOnce decides batch after batch until the queue is empty, the item is paused, or ctx has ended. An error, also a
// panic, leaves the batch where it is: at the head of the queue.
func (s *seller) runOnce(ctx context.Context) (err error) {
	defer recovered(&err, s.log, s.metrics)
	for ctx.Err() == nil {
		more, err := s.sell(ctx)
		if err != nil {
			return err
		}
		s.healed()
		if !more {
			return nil
		}
	}
	return nil
}

func (s *seller) healed() {
	if s.backoff.failures > 0 {
		s.log.Info("seller goes on", "failures", s.backoff.failures)
	}
	s.backoff = backoff{}
}

// sell decides and settles one batch, and reports whether there was one. It finishes the batch even when ctx ends.
func (s *seller) sell(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTime)
	defer cancel()
	start := time.Now()
	batch, err := s.queue.Peek(ctx, s.item, queue.MaxPeek)
	switch {
	case errors.Is(err, queue.ErrMissing), errors.Is(err, queue.ErrStale):
		return false, nil // the sweep installs it, and that wakes the seller
	case err != nil:
		return false, fmt.Errorf("peek: %w", err)
	case len(batch.Entries) == 0:
		return false, nil
	}
	if s.peeked != nil {
		ctx = s.peeked(ctx, s.item)
	}
	outcome, err := s.decide(ctx, s.item, batch.Epoch, batch.Entries)
	switch {
	case errors.Is(err, store.ErrPaused):
		return false, nil // resume changes the gate, and that wakes the seller
	case err != nil:
		return false, fmt.Errorf("decide numbers after %d: %w", batch.Served, err)
	}
	err = s.queue.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: outcome.Verdicts, Item: outcome.Item})
	if err != nil {
		return false, fmt.Errorf("settle numbers after %d: %w", batch.Served, err)
	}
	s.metrics.settled(outcome.Verdicts, time.Since(start))
	s.report(batch.Entries, outcome.Verdicts)
	return true, nil
}

// report tells the operator of each ticket that was set aside.
func (s *seller) report(entries []model.Entry, verdicts []model.Verdict) {
	for n, v := range verdicts {
		if v != model.Failed {
			continue
		}
		s.metrics.setAside.Inc()
		reason := "refused by the database"
		if err := entries[n].Err; err != nil {
			reason = err.Error()
		}
		s.log.Error("ticket set aside", "seq", entries[n].Seq, "reason", reason)
	}
}
