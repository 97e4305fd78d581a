package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	gormmysql "gorm.io/driver/mysql"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// The patience with the server. A transaction never waits between its statements, so one that is idle for idleWriter is
// of a process that is frozen or cut off: the server ends it, and its locks with it. Whoever wants those locks tries
// again, and has them before writeTime is over.
const (
	dialTimeout   = 2 * time.Second
	openTime      = 5 * time.Second // the first connection, greeting and set-up included
	idleWriter    = 3 * time.Second
	lockWait      = 2 * time.Second
	writerReply   = lockWait + 5*time.Second
	readerReply   = 30 * time.Second
	longReply     = 10 * time.Minute // an audit of everything there is, a migration of a large table
	connectionAge = 5 * time.Minute  // so that a server behind a balancer gets its share after a failover
)

// mysqlDialect is MySQL and MariaDB, in what they have in common; several processes may share it.
func mysqlDialect(config *mysql.Config) *dialect {
	return &dialect{
		now:        "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
		migrations: "migrations/mysql",
		goose:      goose.DialectMySQL,
		together: func(ctx context.Context) (*sql.DB, goose.ProviderOption, error) {
			return migrateMySQLTogether(ctx, config.Clone())
		},
		thrownBack: mysqlThrewBack,
		lost:       mysqlLost,
		refused:    mysqlRefused,
	}
}

// migrateMySQLTogether is connections for migrations: they may be idle while others migrate, and a change of a large
// table takes its time. The lock is a row that its holder renews; one that dies holds it for 10 s more.
func migrateMySQLTogether(ctx context.Context, config *mysql.Config) (*sql.DB, goose.ProviderOption, error) {
	locker, err := lock.NewMySQLTableLocker(lock.WithTableLeaseDuration(10*time.Second),
		lock.WithTableHeartbeatInterval(2*time.Second), lock.WithTableLockTimeout(200*time.Millisecond, 600))
	if err != nil {
		return nil, nil, err
	}
	config.ReadTimeout = longReply
	db, err := connectMySQL(ctx, config, "READ COMMITTED")
	if err != nil {
		return nil, nil, err
	}
	pool, err := db.DB()
	return pool, goose.WithLocker(locker), err
}

// openMySQL opens the database that dsn names, on the server that takes its writes.
//
// Writers are at READ COMMITTED: what is read under the lock of an item row is what was committed last, without a
// snapshot that could be older than the lock or be refused for its age, and there are no locks on the gaps between
// rows for others' inserts to run into. Readers are at REPEATABLE READ: a transaction of reads sees one moment.
func (s *Store) openMySQL(ctx context.Context, dsn string, readOnly bool) error {
	config, err := mysqlConfig(dsn)
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	s.dialect = mysqlDialect(config)
	where := config.Addr + "/" + config.DBName
	config.ReadTimeout = readerReply
	if readOnly {
		config.ReadTimeout = longReply
	}
	if s.reader, err = connectMySQL(ctx, config, "REPEATABLE READ, READ ONLY"); err != nil {
		return fmt.Errorf("open %s for reading: %w", where, err)
	}
	var most int
	if err := s.reader.WithContext(ctx).Raw("SELECT @@max_connections").Scan(&most).Error; err != nil {
		return fmt.Errorf("open %s for reading: %w", where, err)
	}
	writers, readers := shareConnections(most)
	if err := bound(s.reader, readers, time.Minute); err != nil || readOnly {
		return err
	}
	config.ReadTimeout = writerReply
	s.writer, err = connectMySQL(ctx, config, "READ COMMITTED", fmt.Sprintf("SET wait_timeout = %d, innodb_lock_wait_timeout = %d",
		idleWriter/time.Second, lockWait/time.Second))
	if err != nil {
		return fmt.Errorf("open %s: %w", where, err)
	}
	return bound(s.writer, writers, idleWriter/3)
}

// mysqlConfig reads mysql://user:pass@host:port/name. Its errors show nothing of dsn: it has a password in it.
func mysqlConfig(dsn string) (*mysql.Config, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("no URL; percent-encode what has a meaning in URLs: mysql://user:pass@host:port/name")
	}
	name := strings.TrimPrefix(u.Path, "/")
	if u.User.Username() == "" || u.Hostname() == "" || name == "" || strings.Contains(name, "/") {
		return nil, errors.New("want mysql://user:pass@host:port/name")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("nothing may follow the name in mysql://user:pass@host:port/name")
	}
	port := u.Port()
	if port == "" {
		port = "3306"
	}
	config := mysql.NewConfig()
	config.User = u.User.Username()
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr, config.DBName = "tcp", net.JoinHostPort(u.Hostname(), port), name
	config.Timeout, config.WriteTimeout = dialTimeout, writerReply
	config.InterpolateParams = true // a statement is one round trip, not three
	config.ParseTime = true         // for goose's tables; there is no time in ours
	config.Logger = &mysql.NopLogger{}
	return config, nil
}

// connectMySQL opens connections whose transactions are of a kind: an isolation level, and whether they only read. Each
// is set up by further statements.
func connectMySQL(ctx context.Context, config *mysql.Config, transactions string, setup ...string) (*gorm.DB, error) {
	inner, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	// What a server may have set otherwise. Strict: what does not fit is refused and not cut.
	setup = append([]string{"SET NAMES utf8mb4", "SET autocommit = 1, time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		"SET SESSION TRANSACTION ISOLATION LEVEL " + transactions}, setup...)
	pool := sql.OpenDB(connector{inner, setup})
	// A server that takes connections and says nothing is found out here, however long its answers may take later.
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	if err := pool.PingContext(opening); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	dialector := gormmysql.New(gormmysql.Config{Conn: pool, DSNConfig: config, SkipInitializeWithVersion: true, DisableWithReturning: true})
	db, err := gorm.Open(dialector, &gorm.Config{SkipDefaultTransaction: true, TranslateError: true,
		DisableAutomaticPing: true, Logger: logger.Discard})
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return db, nil
}

// connector runs statements on each new connection.
type connector struct {
	driver.Connector
	setup []string
}

// Connect implements driver.Connector.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, statement := range c.setup {
		if _, err := conn.(driver.ExecerContext).ExecContext(ctx, statement, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return conn, nil
}

// Processes that share a server, with room beside them for operators, dumps and replicas.
const (
	sharers  = 4
	roomLeft = 10
)

// shareConnections is how many of the server's connections one process may hold, for writing and for reading.
func shareConnections(most int) (writers, readers int) {
	share := min(max((most-roomLeft)/sharers, 4), 64)
	writers = max(share/3, 2)
	return writers, share - writers
}

// bound limits a pool. Connections are closed here before the server would close them.
func bound(db *gorm.DB, connections int, idle time.Duration) error {
	pool, err := db.DB()
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxIdleTime(idle)
	pool.SetConnMaxLifetime(connectionAge)
	return nil
}

// mysqlThrewBack knows a deadlock, a lock wait (after which the transaction is still there, to be rolled back) and a row
// that has changed since the snapshot.
func mysqlThrewBack(err error) bool { return isMySQL(err, 1213, 1205, 1020) }

// mysqlLost knows what the driver says of a broken connection, and what a server says that is full, going down, or has
// ended a statement or a connection.
func mysqlLost(err error) bool {
	for _, broken := range []error{driver.ErrBadConn, mysql.ErrInvalidConn, mysql.ErrPktSync, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return errors.As(err, new(*net.OpError)) || isMySQL(err, 1040, 1053, 1317, 1927, 4031)
}

// mysqlRefused knows the classes of SQLSTATE for data that do not fit (22), broken constraints (23) and what triggers
// signal (45), and two numbers that servers put into no class: text that is no text, a CHECK that fails.
func mysqlRefused(err error) bool {
	if translatedRefusal(err) || isMySQL(err, 1366, 3819) {
		return true
	}
	var e *mysql.MySQLError
	return errors.As(err, &e) && slices.Contains([]string{"22", "23", "45"}, string(e.SQLState[:2]))
}

// isMySQL reports whether err is an answer of the server with one of the numbers.
func isMySQL(err error, numbers ...uint16) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && slices.Contains(numbers, e.Number)
}
