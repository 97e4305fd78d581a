package worker

import (
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"seckill/model"
)

// repairsAtOnce is how many items' queues a sweep repairs at a time: each may have to wait for another worker.
const repairsAtOnce = 16

// repairs is what a sweep does to several items at a time. One that fails keeps no other from being done.
type repairs struct {
	errgroup.Group
	sellers *Sellers

	mu   sync.Mutex
	errs []error
}

// do has a repair done, at once or as soon as there is room.
func (r *repairs) do(repair func() error) {
	r.Go(func() (err error) {
		defer func() { r.failed(err) }()
		defer recovered(&err, r.sellers.log, r.sellers.metrics)
		return repair()
	})
}

func (r *repairs) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// wait waits for all, and returns what has failed.
func (r *repairs) wait() error {
	_ = r.Wait() // it is among errs
	return errors.Join(r.errs...)
}

// wrap says what was done to which item when err came of it.
func wrap(doing string, item model.ID, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s item %s: %w", doing, item, err)
}
