package main

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

// queues is the process's queue, for those who answer people and for those who sell. On Redis each has connections of
// its own, so that neither waits for the other's; the local queue is one.
type queues struct{ answering, working queue.Queue }

// openQueues makes the queue that the settings choose.
func openQueues(s settings, db *store.Store, log *slog.Logger) (queues, error) {
	if s.redis == "" {
		q := queue.NewLocal(db, model.NewClock(time.Now), queue.LocalOptions{Limit: s.queueLimit})
		return queues{q, q}, nil
	}
	opt := queue.RedisOptions{URL: s.redis, Limit: s.queueLimit, Log: log}
	answering, err := queue.OpenRedis(db, opt)
	if err != nil {
		return queues{}, err
	}
	working, err := queue.OpenRedis(db, opt)
	if err != nil {
		return queues{}, errors.Join(err, answering.Close())
	}
	return queues{answering, working}, nil
}

// checkRedis refuses a Redis that will not do, as wrongSettings, and passes on its warnings.
func checkRedis(ctx context.Context, s settings, log *slog.Logger) error {
	if s.redis == "" {
		return nil
	}
	queue.QuietRedis()
	q, err := queue.OpenRedis(nil, queue.RedisOptions{URL: s.redis})
	if err != nil {
		return err
	}
	warnings, err := q.Check(ctx)
	for _, w := range warnings {
		log.Warn(w)
	}
	switch {
	case errors.Is(err, model.ErrUnavailable):
		err = fmt.Errorf("--redis: %w", err)
	case err != nil:
		err = wrongSettings{"--redis: " + err.Error()}
	}
	return errors.Join(err, q.Close())
}

// close closes each once; closing again does nothing.
func (q queues) close() error { return errors.Join(q.answering.Close(), q.working.Close()) }
