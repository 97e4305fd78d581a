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
	"seckill/worker"
)

const (
	// stopTime is how long stopping may take in all.
	stopTime = 9 * time.Second
	// noticeTime is how long a program that was told to stop goes on, not ready, so that whoever asks sends no more.
	noticeTime = 500 * time.Millisecond
	// drainTime is how long requests under way may take to finish when the program stops.
	drainTime = 2 * time.Second
)

// errStopping is why a program that was told to stop is not ready.
var errStopping = errors.New("stopping")

// serve runs the sale until ctx ends. An error of type wrongSettings means that nothing was started.
func (p program) serve(ctx context.Context, s settings) error {
	lines := newLogLines(p.stderr)
	defer lines.close()
	p.stderr = lines
	dir, err := s.claim()
	if err != nil {
		return err
	}
	defer dir.release()
	if len(s.secrets) == 0 {
		made, err := s.secret()
		if err != nil {
			return err
		}
		s.secrets = [][]byte{made}
	}
	up := false
	err = s.withStore(ctx, store.Options{Log: p.log()}, func(db *store.Store, fresh bool) error {
		running, err := p.assemble(ctx, s, db, fresh)
		if err != nil {
			return err
		}
		up = true
		fmt.Fprintln(p.stdout, "listening on", running.front.url)
		return running.run(ctx)
	})
	if !up && ctx.Err() != nil {
		return nil // told to stop before it was up
	}
	return err
}

// server is the parts of a running program.
type server struct {
	queue   *queue.Local
	sellers *worker.Sellers
	front   *front
	store   *store.Store
	log     *slog.Logger
}

// assemble puts into the database what a first start needs, makes the parts and adopts the queues; when it returns, the
// address is taken and nothing is served yet.
func (p program) assemble(ctx context.Context, s settings, db *store.Store, fresh bool) (*server, error) {
	if err := p.firstAdmin(ctx, db, s.adminPassword); err != nil {
		return nil, err
	}
	if s.demo == "true" || s.demo == "" && fresh {
		if err := demo(ctx, db); err != nil {
			return nil, err
		}
	}
	log, metrics := p.log(), newMetrics()
	q := queue.NewLocal(db, model.NewClock(time.Now), queue.LocalOptions{Limit: s.queueLimit})
	sellers := worker.New(worker.Options{Store: db, Queue: q, Log: log, Metrics: metrics})
	if err := sellers.Adopt(ctx); err != nil {
		return nil, fmt.Errorf("adopt the items: %w", err)
	}
	front, err := newFront(s, db, q, log, metrics)
	if err != nil {
		return nil, err
	}
	return &server{queue: q, sellers: sellers, front: front, store: db, log: log}, nil
}

// run sells until ctx ends or a part fails, and then stops the parts in the order in which they need each other.
func (s *server) run(ctx context.Context) error {
	failed := make(chan error, 4) // one from each part
	sellers := startPart("sellers", s.sellers.Run, failed)
	sessions := startPart("sessions", func(ctx context.Context) error {
		worker.ClearSessions(ctx, s.store.Sessions(), s.log)
		return nil
	}, failed)
	hub := startPart("hub", s.front.hub.Run, failed)
	web := startPart("http", s.front.serve, failed)
	var failure error
	select {
	case <-ctx.Done():
		s.log.Info("stopping")
	case failure = <-failed:
		s.log.Error("stopping", "error", failure)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	s.front.stopping.Store(true)
	time.Sleep(noticeTime)
	errs := []error{failure, hub.stop(ctx)}
	s.front.drain(ctx)
	for _, p := range []*part{web, sellers, sessions} {
		errs = append(errs, p.stop(ctx))
	}
	errs = append(errs, s.queue.Close())
	return errors.Join(errs...)
}

// part is a goroutine of the running program.
type part struct {
	name string
	end  context.CancelFunc
	done chan struct{}
}

// startPart runs a part until it is stopped. If it fails before, failed hears of it.
func startPart(name string, run func(context.Context) error, failed chan<- error) *part {
	ctx, end := context.WithCancel(context.Background())
	p := &part{name: name, end: end, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		if err := run(ctx); err != nil {
			failed <- fmt.Errorf("%s: %w", name, err)
		}
	}()
	return p
}

// stop ends the part and waits for it until ctx ends.
func (p *part) stop(ctx context.Context) error {
	p.end()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not stop in time", p.name)
	}
}
