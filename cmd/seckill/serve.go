package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	if err := checkRedis(ctx, s, p.log()); err != nil {
		return err
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
	queues  queues
	sellers *worker.Sellers // nil in a process that only answers browsers
	front   *front
	store   *store.Store
	log     *slog.Logger
	peeked  point
}

// assemble puts into the database what a first start needs, makes the parts and adopts the queues; when it returns, the
// address is taken and nothing is served yet.
func (p program) assemble(ctx context.Context, s settings, db *store.Store, fresh bool) (*server, error) {
	if err := p.firstAdmin(ctx, db, s.adminPassword); err != nil {
		return nil, err
	}
	if s.demo == "true" || s.demo == "" && fresh && s.mysql == "" {
		if err := demo(ctx, db); err != nil {
			return nil, err
		}
	}
	log, metrics := p.log(), newMetrics()
	queues, err := openQueues(s, db, log)
	if err != nil {
		return nil, err
	}
	running := &server{queues: queues, store: db, log: log, peeked: p.peekedPoint()}
	if err := running.wire(ctx, s, metrics); err != nil {
		return nil, errors.Join(err, queues.close())
	}
	return running, nil
}

// wire makes the parts that the process's role has.
func (r *server) wire(ctx context.Context, s settings, metrics *prometheus.Registry) error {
	if s.role != roleWeb {
		r.sellers = worker.New(worker.Options{Store: r.store, Queue: r.queues.working, Log: r.log, Metrics: metrics,
			Name: workerName(), Peeked: r.peeked})
		if err := r.sellers.Adopt(ctx); err != nil {
			return fmt.Errorf("adopt the items: %w", err)
		}
	}
	var err error
	r.front, err = newFront(s, r.store, r.queues.answering, r.log, metrics)
	return err
}

// workerName is a name that no other worker has, and that tells an operator where it is.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	return host + "-" + rand.Text()[:10]
}

// run sells until ctx ends or a part fails, and then stops the parts in the order in which they need each other.
func (r *server) run(ctx context.Context) error {
	failed := make(chan error, 4) // one from each part
	var sellers, sessions, hub *part
	if r.sellers != nil {
		sellers = startPart("sellers", r.sellers.Run, failed)
		sessions = startPart("sessions", func(ctx context.Context) error {
			worker.ClearSessions(ctx, r.store.Sessions(), r.log)
			return nil
		}, failed)
	}
	if r.front.hub != nil {
		hub = startPart("hub", r.front.hub.Run, failed)
	}
	web := startPart("http", r.front.serve, failed)
	var failure error
	select {
	case <-ctx.Done():
		r.log.Info("stopping")
	case failure = <-failed:
		r.log.Error("stopping", "error", failure)
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	r.front.stopping.Store(true)
	time.Sleep(noticeTime)
	errs := []error{failure, hub.stop(ctx)}
	r.front.drain(ctx)
	for _, p := range []*part{web, sellers, sessions} {
		errs = append(errs, p.stop(ctx))
	}
	errs = append(errs, r.queues.close())
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

// stop ends the part, if there is one, and waits for it until ctx ends.
func (p *part) stop(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.end()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not stop in time", p.name)
	}
}
