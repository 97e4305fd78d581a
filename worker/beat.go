package worker

import (
	"context"
	"time"
)

const (
	// beatEvery is the time from beat to beat.
	beatEvery = time.Second
	// beatTime is how long a beat may take.
	beatTime = 2 * time.Second
)

// beat says once a second that this worker lives, until ctx ends. A failure is logged now and then; until the next success
// the workers that were last seen count.
func (s *Sellers) beat(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	var failures backoff
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := s.beatOnce(ctx)
		if err == nil || ctx.Err() != nil {
			failures = backoff{}
			continue
		}
		if failures.fail(); failures.loud() {
			s.log.Warn("no beat, will try again", "failures", failures.failures, "error", err)
		}
	}
}

// beatOnce says that this worker lives and learns who else does; if that has changed, the items are looked through at
// once. A worker that SQL does not answer says nothing: others may decide for it.
func (s *Sellers) beatOnce(ctx context.Context) (err error) {
	defer recovered(&err, s.log, s.metrics)
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	if err := s.store.Ping(ctx); err != nil {
		return err
	}
	live, err := s.queue.Beat(ctx, s.owners.self)
	if err != nil {
		return err
	}
	if s.owners.set(live) {
		s.metrics.workers.Set(float64(len(live)))
		s.log.Info("workers", "live", live)
		s.sweepSoon()
	}
	return nil
}

// leave hands the items to others at once: they need not wait until this worker is missed.
func (s *Sellers) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatTime)
	defer cancel()
	if err := s.queue.Leave(ctx, s.owners.self); err != nil {
		s.log.Warn("others will miss this worker for some seconds", "error", err)
	}
}
