package ws

import (
	"context"
	"log/slog"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

const (
	// beat is how often progress and items are sent at most: a little more than a quarter of a second, so that
	// a jitter of the clock or the network does not make it five in a second.
	beat = 260 * time.Millisecond
	// sweepWait bounds the reads of one sweep.
	sweepWait = 2 * time.Second
	// beatsPerSweep makes it about a second from sweep to sweep.
	beatsPerSweep = 4
)

// dispatch hands messages to rooms until ctx ends. It never waits for a read.
func (h *Hub) dispatch(ctx context.Context, messages <-chan queue.Message) {
	next := time.NewTimer(beat)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case m, open := <-messages:
			if !open {
				messages = nil // the queue has ended before us; the sweep goes on
				continue
			}
			h.hand(m)
		case <-next.C:
			for _, r := range h.all() {
				r.beat()
			}
			next.Reset(beat) // from here, so that two beats never come closer
		}
	}
}

func (h *Hub) hand(m queue.Message) {
	switch m.Kind {
	case queue.Settled:
		if r := h.room(m.Item); r != nil {
			r.settled(m)
		}
	case queue.Changed:
		h.desk.Forget(m.Item)
		if r := h.room(m.Item); r != nil {
			r.changed()
		}
	case queue.Missed:
		for _, r := range h.all() {
			h.desk.Forget(r.item)
			r.missed()
		}
	}
}

// sweep reads the gate's clock each beat, and each second how far the queues are, until ctx ends.
func (h *Hub) sweep(ctx context.Context) {
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		if err := h.sweepOnce(ctx, n%beatsPerSweep == 0); err != nil && ctx.Err() == nil {
			h.log.Warn("sockets not swept", slog.Any("error", err))
		}
	}
}

// sweepOnce reads for all items with open sockets.
func (h *Hub) sweepOnce(ctx context.Context, progress bool) error {
	rooms := h.all()
	if len(rooms) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	now, err := h.queue.Now(ctx)
	if err != nil {
		return err
	}
	for _, r := range rooms {
		r.clock(now)
	}
	if !progress {
		return nil
	}
	items := make([]model.ID, len(rooms))
	for n, r := range rooms {
		items[n] = r.item
	}
	all, err := h.queue.Progress(ctx, items...)
	if err != nil {
		return err
	}
	for n, r := range rooms {
		r.sweep(all[n])
	}
	return nil
}
