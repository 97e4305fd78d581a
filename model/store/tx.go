package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"gorm.io/gorm"
)

// A transaction that SQL throws back is run again at most attempts times in all, after pauses that start with
// firstPause and double, each cut at random so that two who collided do not collide again. After patience nothing is
// run again: a server that does not answer has taken it up already.
const (
	attempts   = 6
	firstPause = 5 * time.Millisecond
	patience   = 10 * time.Second
	// writeTime bounds a write in all, the wait for its turn included: somebody waits for the answer.
	writeTime = 5 * time.Second
)

// commitError is a COMMIT that failed: whether the transaction happened is not known.
type commitError struct{ err error }

func (e commitError) Error() string { return fmt.Sprintf("commit: %v", e.err) }
func (e commitError) Unwrap() error { return e.err }

// write runs f in one transaction, from its start again when SQL throws it back or the connection breaks before COMMIT,
// for five seconds at most. It is all or nothing, also when ctx ends; only after a failed COMMIT nobody knows.
func (s *Store) write(ctx context.Context, f func(tx *gorm.DB) error) error {
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return s.retry(ctx, s.dialect.undone, func() error { return s.transact(ctx, f) })
}

// writeRepeatable is write for an f that finds out by itself whether it has happened: a failed COMMIT runs it again.
func (s *Store) writeRepeatable(ctx context.Context, f func(tx *gorm.DB) error) error {
	again := func(err error) bool {
		return s.dialect.undone(err) || errors.As(err, new(commitError))
	}
	return s.retry(ctx, again, func() error { return s.transact(ctx, f) })
}

// transact runs f in one transaction, once. A panic of f rolls it back.
func (s *Store) transact(ctx context.Context, f func(tx *gorm.DB) error) error {
	if s.writer == nil {
		return errReadOnly
	}
	tx := s.writer.WithContext(ctx).Begin()
	if tx.Error != nil {
		return tx.Error
	}
	ended := false
	defer func() {
		if !ended {
			tx.Rollback()
		}
	}()
	if err := f(tx); err != nil {
		return err
	}
	ended = true
	if err := tx.Commit().Error; err != nil {
		return commitError{err}
	}
	return nil
}

// retry runs op until it succeeds, fails with an error that again does not know, or has failed too often.
func (s *Store) retry(ctx context.Context, again func(error) bool, op func() error) error {
	pause, start := firstPause, time.Now()
	for attempt := 1; ; attempt++ {
		err := op()
		if err == nil || attempt == attempts || time.Since(start) > patience || ctx.Err() != nil || !again(err) {
			return err
		}
		s.log.Warn("transaction is run again", "attempt", attempt, "error", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
		pause *= 2
	}
}

// read runs f on one snapshot: that of its first read.
func (s *Store) read(ctx context.Context, f func(tx *gorm.DB) error) error {
	return s.reader.WithContext(ctx).Transaction(f, &sql.TxOptions{ReadOnly: true})
}
