package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/libtnb/sqlite"
	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// readers is how many connections read at a time.
const readers = 8

// sqliteDialect is a file that one process has for itself.
func sqliteDialect() *dialect {
	return &dialect{
		now:        "SELECT CAST(ROUND(unixepoch('now', 'subsec') * 1000) AS INTEGER)",
		journal:    true,
		migrations: "migrations/sqlite",
		goose:      goose.DialectSQLite3,
		thrownBack: sqliteThrewBack,
		lost:       func(error) bool { return false },
		refused:    sqliteRefused,
	}
}

// openSQLite opens the file at path.
func (s *Store) openSQLite(ctx context.Context, path string, readOnly bool) (err error) {
	if path == "" {
		return errors.New("database: sqlite:// has no path")
	}
	s.dialect = sqliteDialect()
	if !readOnly {
		// The writer comes first: it makes the file.
		if s.writer, err = connectSQLite(ctx, writerDSN(path), 1); err != nil {
			return fmt.Errorf("open %s: %w", path, err)
		}
	}
	if s.reader, err = connectSQLite(ctx, readerDSN(path), readers); err != nil {
		return fmt.Errorf("open %s for reading: %w", path, err)
	}
	return nil
}

// common is what every connection is opened with: wait for a lock of another process, and leave integers and texts
// alone that look like times.
const common = "_busy_timeout=5000&_texttotime=0&_inttotime=0"

// writerDSN opens to write, making the file. Transactions take the write lock at once: a deferred one that reads first
// is told "locked" without any wait. synchronous=FULL survives a power cut, and the journal pays for it once a group:
// for 256 clicks a quarter of a millisecond on a quiet SSD, against a tenth with NORMAL, which survives a kill only.
func writerDSN(path string) string {
	return sqliteURI(path) + "?mode=rwc&_txlock=immediate&_journal_mode=WAL&_synchronous=FULL&" + common
}

// readerDSN opens to look. The mode is not ro: a reader of a write-ahead log needs to write its index.
func readerDSN(path string) string {
	return sqliteURI(path) + "?mode=rw&_query_only=1&" + common
}

// sqliteURI is the file's name as a URI, in which SQLite heeds mode.
func sqliteURI(path string) string {
	return "file:" + (&url.URL{Path: path}).EscapedPath()
}

// connectSQLite opens without gorm's cache of prepared statements: it makes a read by itself a third faster, but prepares
// everything twice within a transaction, and hands one caller's cancelled context to others who wait for the statement.
func connectSQLite(ctx context.Context, dsn string, connections int) (*gorm.DB, error) {
	db, err := gorm.Open(sqlite.Open(dsn), &gorm.Config{SkipDefaultTransaction: true, TranslateError: true,
		Logger: logger.Discard})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

func sqliteThrewBack(err error) bool {
	code, ok := sqliteCode(err)
	return ok && (code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED)
}

func sqliteRefused(err error) bool {
	if translatedRefusal(err) {
		return true
	}
	code, ok := sqliteCode(err)
	return ok && (code == lib.SQLITE_CONSTRAINT || code == lib.SQLITE_MISMATCH || code == lib.SQLITE_TOOBIG)
}

// sqliteCode is the primary result code of an error of SQLite.
func sqliteCode(err error) (int, bool) {
	var e *driver.Error
	if !errors.As(err, &e) {
		return 0, false
	}
	return e.Code() & 0xff, true
}
