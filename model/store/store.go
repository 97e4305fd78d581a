// Package store has every SQL statement of the program: items, orders, decisions, the local queue's journal, users and
// sessions, and the audit. SQL is the judge: what a transaction here has committed is the truth, and nothing else is.
//
// One state change is one transaction; its first statement locks the item row. A transaction that SQL throws back
// (busy, deadlock, lock wait, a lost connection) is run again from its start; every one can be repeated.
//
// The database is SQLite, or MySQL and MariaDB in what they have in common; a dialect holds what differs. Writes and
// reads go through connections of their own: on SQLite there is one writer at a time, and those who wait for it wait
// here, in order, instead of polling the file's lock; on MySQL a crowd of readers keeps no seller waiting. No foreign
// keys: nothing that is pointed to is ever deleted.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"

	"seckill/model"
)

// Options of Open. The zero value of each field is a sensible default.
type Options struct {
	Now func() time.Time // for ids and times of sessions; time.Now
	Log *slog.Logger
	// ReadOnly opens for looking: SQLite's file must exist, nothing is ever written. For audit beside a running server.
	ReadOnly bool
}

// Store is one database. Safe for concurrent use.
type Store struct {
	dialect *dialect
	writer  *gorm.DB // nil when opened for looking
	reader  *gorm.DB
	now     func() time.Time
	ids     *model.IDs
	log     *slog.Logger

	insertJournal atomic.Pointer[sql.Stmt]
}

var errReadOnly = errors.New("database was opened for looking only")

// lastID is the highest id of all tables.
const lastID = `
	SELECT COALESCE(MAX(id), 0) FROM (
		SELECT MAX(id) AS id FROM items UNION ALL SELECT MAX(id) FROM orders UNION ALL
		SELECT MAX(id) FROM stock_changes UNION ALL SELECT MAX(id) FROM users) ids`

// Open connects to dsn: sqlite://<path>, where path is taken as it is, or mysql://user:pass@host:port/name, where what
// has a meaning in a URL is percent-encoded. It makes SQLite's file, but no tables (see Migrate) and no database of
// MySQL. Errors never show the password.
func Open(ctx context.Context, dsn string, opt Options) (*Store, error) {
	now := opt.Now
	if now == nil {
		now = time.Now
	}
	s := &Store{now: now, ids: model.NewIDs(0, now), log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler))}
	var err error
	switch scheme, rest, _ := strings.Cut(dsn, "://"); scheme {
	case "sqlite":
		err = s.openSQLite(ctx, rest, opt.ReadOnly)
	case "mysql":
		err = s.openMySQL(ctx, dsn, opt.ReadOnly)
	default:
		err = errors.New("database: want sqlite://<path> or mysql://user:pass@host:port/name")
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// CheckDSN tells what is wrong with a dsn of MySQL, without connecting. It shows nothing of it.
func CheckDSN(dsn string) error {
	_, err := mysqlConfig(dsn)
	return err
}

// Migrate brings the tables up to date, takes a node number for the ids, and has further ids be above all that are
// there; fresh reports whether this call began with the very first table. Processes that share a database may call it at
// once: one of them migrates, the others wait. Call it once, before anything is written.
func (s *Store) Migrate(ctx context.Context) (fresh bool, err error) {
	if s.writer == nil {
		return false, errReadOnly
	}
	applied, err := s.migrate(ctx)
	if err != nil {
		return false, fmt.Errorf("migrate: %w", err)
	}
	node, err := s.takeNode(ctx)
	if err != nil {
		return false, fmt.Errorf("take a node number: %w", err)
	}
	s.ids = model.NewIDs(node, s.now)
	var last model.ID
	if err := s.writer.WithContext(ctx).Raw(lastID).Scan(&last).Error; err != nil {
		return false, fmt.Errorf("find the last id: %w", err)
	}
	s.ids.Skip(last)
	return len(applied) > 0 && applied[0].Source.Version == 1, nil
}

func (s *Store) migrate(ctx context.Context) ([]*goose.MigrationResult, error) {
	db, err := s.writer.DB()
	if err != nil {
		return nil, err
	}
	options := []goose.ProviderOption{goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger())}
	if s.dialect.together != nil {
		own, lock, err := s.dialect.together(ctx)
		if err != nil {
			return nil, err
		}
		defer own.Close()
		db, options = own, append(options, lock)
	}
	files, err := fs.Sub(migrations, s.dialect.migrations)
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(s.dialect.goose, db, files, options...)
	if err != nil {
		return nil, err
	}
	return provider.Up(ctx)
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
	now, err := s.databaseNow(s.reader.WithContext(ctx))
	if err != nil {
		return 0, fmt.Errorf("database's clock: %w", err)
	}
	return now, nil
}

// databaseNow is the database's clock, read by a statement of its own: within a transaction that is after the lock.
func (s *Store) databaseNow(db *gorm.DB) (model.Instant, error) {
	var now model.Instant
	err := db.Raw(s.dialect.now).Scan(&now).Error
	return now, err
}
