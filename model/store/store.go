// Package store has every SQL statement of the program: items, orders, decisions, the local queue's journal, users and
// sessions, and the audit. SQL is the judge: what a transaction here has committed is the truth, and nothing else is.
//
// One state change is one transaction; its first statement locks the item row. A transaction that SQL throws back
// (busy, deadlock, lock wait, a lost connection) is run again from its start; every one can be repeated.
package store

import (
	"context"
	"log/slog"
	"time"

	"seckill/model"
)

// Options of Open. The zero value of each field is a sensible default.
type Options struct {
	Now  func() time.Time // for ids and times of sessions; time.Now
	Node int              // of the ids, 0 to model.MaxNode
	Log  *slog.Logger
	// ReadOnly opens for looking: the file must exist, nothing is ever written. For audit beside a running server.
	ReadOnly bool
}

// Store is one database. Safe for concurrent use.
type Store struct{}

// Open connects to dsn, sqlite://<path>. It makes the file but no tables: see Migrate.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) { panic("todo") }

// Migrate brings the tables up to date; fresh reports whether there were none at all before.
func (s *Store) Migrate(ctx context.Context) (fresh bool, err error) { panic("todo") }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error { panic("todo") }

// Close waits for statements under way.
func (s *Store) Close() error { panic("todo") }

// Now is the database's clock.
func (s *Store) Now(ctx context.Context) (model.Instant, error) { panic("todo") }
