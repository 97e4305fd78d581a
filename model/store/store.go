// Package store has every SQL statement of the program: items, orders, decisions, the local queue's journal, users and
// sessions, and the audit. SQL is the judge: what a transaction here has committed is the truth, and nothing else is.
//
// One state change is one transaction; its first statement locks the item row. A transaction that SQL throws back
// (busy, deadlock, lock wait, a lost connection) is run again from its start; every one can be repeated.
//
// Writes go through one connection, reads through others: on SQLite there is one writer at a time, and those who wait
// for it wait here, in order, instead of polling the file's lock. No foreign keys: nothing that is pointed to is ever
// deleted.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

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
type Store struct {
	writer *gorm.DB // nil when opened for looking
	reader *gorm.DB
	now    func() time.Time
	ids    *model.IDs
	log    *slog.Logger

	insertJournal atomic.Pointer[sql.Stmt]
}

//go:embed migrations/sqlite/*.sql
var migrations embed.FS

var errReadOnly = errors.New("database was opened for looking only")

// lastID is the highest id of all tables.
const lastID = `
	SELECT COALESCE(MAX(id), 0) FROM (
		SELECT MAX(id) AS id FROM items UNION ALL SELECT MAX(id) FROM orders UNION ALL
		SELECT MAX(id) FROM stock_changes UNION ALL SELECT MAX(id) FROM users)`

// Open connects to dsn, sqlite://<path>, where path is taken as it is. It makes the file but no tables: see Migrate.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	path, err := sqlitePath(dsn)
	if err != nil {
		return nil, err
	}
	now := opt.Now
	if now == nil {
		now = time.Now
	}
	s := &Store{now: now, ids: model.NewIDs(opt.Node, now), log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler))}
	if !opt.ReadOnly {
		// The writer comes first: it makes the file.
		if s.writer, err = openSQLite(ctx, writerDSN(path), 1); err != nil {
			return nil, fmt.Errorf("open %s: %w", path, err)
		}
	}
	if s.reader, err = openSQLite(ctx, readerDSN(path), readers); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for reading: %w", path, err), s.Close())
	}
	return s, nil
}

// Migrate brings the tables up to date, and has further ids be above all that are there; fresh reports whether there were
// no tables at all before.
func (s *Store) Migrate(ctx context.Context) (fresh bool, err error) {
	if s.writer == nil {
		return false, errReadOnly
	}
	db, err := s.writer.DB()
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'").Scan(&tables); err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	files, err := fs.Sub(migrations, "migrations/sqlite")
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true),
		goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	var last model.ID
	if err := db.QueryRowContext(ctx, lastID).Scan(&last); err != nil {
		return false, fmt.Errorf("find the last id: %w", err)
	}
	s.ids.Skip(last)
	return tables == 0, nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	_, err := s.Now(ctx)
	return err
}

// Close waits for statements under way.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*gorm.DB{s.reader, s.writer} {
		if db == nil {
			continue
		}
		pool, err := db.DB()
		if err == nil {
			err = pool.Close()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Now is the database's clock.
func (s *Store) Now(ctx context.Context) (model.Instant, error) {
	now, err := databaseNow(s.reader.WithContext(ctx))
	if err != nil {
		return 0, fmt.Errorf("database's clock: %w", err)
	}
	return now, nil
}

// databaseNow is the database's clock, read by a statement of its own: within a transaction that is after the lock.
func databaseNow(db *gorm.DB) (model.Instant, error) {
	var now model.Instant
	err := db.Raw(sqliteNow).Scan(&now).Error
	return now, err
}
