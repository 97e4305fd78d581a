package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"seckill/model"
)

func TestTheAddressOfAMySQLDatabase(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"mysql://shop:secret@db:3307/shop":        "shop secret db:3307 shop",
		"mysql://shop:@db:3307/shop":              "shop  db:3307 shop",
		"mysql://shop@db/shop":                    "shop  db:3306 shop",
		"mysql://a%40b:p%40s%2Fs%3A%23%3F@h:1/s1": "a@b p@s/s:#? h:1 s1",
		"mysql://root:x@[::1]:3306/s":             "root x [::1]:3306 s",
	} {
		c, err := mysqlConfig(dsn)
		if err != nil {
			t.Errorf("%s: %v", dsn, err)
			continue
		}
		if got := strings.Join([]string{c.User, c.Passwd, c.Addr, c.DBName}, " "); got != want {
			t.Errorf("%s: %s, want %s", dsn, got, want)
		}
		if !c.InterpolateParams || c.ClientFoundRows || c.Timeout == 0 || c.WriteTimeout == 0 {
			t.Errorf("%s: %+v", dsn, c)
		}
	}
	for _, dsn := range []string{"mysql://", "mysql://db/shop", "mysql://u:hidden@/shop", "mysql://u:hidden@db", "mysql://u:hidden@db/",
		"mysql://u:hidden@db/a/b", "mysql://u:hidden@db/shop?tls=true", "mysql://u:hidden@db/shop#x", "mysql://u:hid/hidden@db/shop",
		"mysql://u:hidden@db:port/shop", "mysql://u:hidden%zz@db/shop", "mysql:/u:hidden@db/shop", "postgres://u:hidden@db/shop"} {
		s, err := Open(context.Background(), dsn, Options{})
		if err == nil {
			t.Errorf("opened %s: %v", dsn, s.Close())
		} else if strings.Contains(err.Error(), "hid") {
			t.Errorf("the password shows: %v", err)
		}
	}
}

func TestAPasswordMayHaveAnyCharacters(t *testing.T) {
	t.Parallel()
	server := mariaDB.Server(t)
	name := server.Database(t)
	server.Exec(t, "CREATE OR REPLACE USER odd@'127.0.0.1' IDENTIFIED BY 'p@s/s:#?%é'", "GRANT ALL ON "+name+".* TO odd@'127.0.0.1'")
	at := server.Addr() + "/" + name
	s := openAt(t, "mysql://odd:p%40s%2Fs%3A%23%3F%25%C3%A9@"+at, Options{})
	if err := s.Ping(context.Background()); err != nil {
		t.Error(err)
	}
	_, err := Open(context.Background(), "mysql://odd:wrong@"+at, Options{})
	if !isMySQL(err, 1045) || strings.Contains(err.Error(), "wrong@") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestMySQLConnectionsAreSetUpAsAsked(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	for _, c := range []struct {
		side           string
		db             *gorm.DB
		variable, want string
	}{
		{"writer", s.writer, "tx_isolation", "READ-COMMITTED"}, {"reader", s.reader, "tx_isolation", "REPEATABLE-READ"},
		{"writer", s.writer, "time_zone", "+00:00"}, {"reader", s.reader, "time_zone", "+00:00"},
		{"writer", s.writer, "sql_mode", "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION"},
		{"writer", s.writer, "wait_timeout", "3"}, {"writer", s.writer, "innodb_lock_wait_timeout", "2"},
		{"writer", s.writer, "autocommit", "1"}, {"writer", s.writer, "character_set_client", "utf8mb4"},
		{"reader", s.reader, "character_set_results", "utf8mb4"},
	} {
		var got string
		if err := c.db.Raw("SELECT @@" + c.variable).Scan(&got).Error; err != nil || got != c.want {
			t.Errorf("%s of the %s: %q, %v; want %q", c.variable, c.side, got, err, c.want)
		}
	}
	writers, readers := shareConnections(151)
	for db, want := range map[*gorm.DB]int{s.writer: writers, s.reader: readers} {
		if pool, err := db.DB(); err != nil || pool.Stats().MaxOpenConnections != want {
			t.Errorf("%d connections, %v; want %d", pool.Stats().MaxOpenConnections, err, want)
		}
	}
}

// Four processes start at once on an empty database: one schema, all keys there, and one of them has begun it.
func TestProcessesMigrateAtOnce(t *testing.T) {
	t.Parallel()
	file := onSQLite.open(t, Options{})
	for range 3 {
		dsn := onMariaDB.create(t)
		var all sync.WaitGroup
		var first atomic.Int64
		for range 4 {
			s, err := Open(context.Background(), dsn, Options{})
			if err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				fresh, err := s.Migrate(context.Background())
				if err := errors.Join(err, s.Close()); err != nil {
					t.Error(err)
				}
				if fresh {
					first.Add(1)
				}
			})
		}
		all.Wait()
		s := openAt(t, dsn, Options{})
		if got, want := mysqlKeys(t, s), sqliteKeys(t, file); first.Load() != 1 || !slices.Equal(got, want) {
			t.Errorf("%d have begun; keys\n%s\nwant\n%s", first.Load(), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if twice := count(t, s, "(SELECT version_id FROM goose_db_version GROUP BY version_id HAVING COUNT(*) > 1) x"); twice != 0 {
			t.Errorf("%d migrations ran twice", twice)
		}
		for _, wrong := range []string{"engine <> 'InnoDB'", "table_collation NOT LIKE 'utf8mb4%'"} {
			n := count(t, s, "information_schema.tables WHERE table_schema = DATABASE() AND table_name NOT LIKE 'goose%' AND "+wrong)
			if n != 0 {
				t.Errorf("%d tables with %s", n, wrong)
			}
		}
	}
}

// mysqlKeys is a line for each key but the primary ones: its name, whether it is unique, its columns.
func mysqlKeys(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	err := s.reader.Raw(`
		SELECT CONCAT(index_name, ' ', 1 - non_unique, ' ', GROUP_CONCAT(column_name ORDER BY seq_in_index))
		FROM information_schema.statistics
		WHERE table_schema = DATABASE() AND index_name <> 'PRIMARY' AND table_name NOT LIKE 'goose%'
		GROUP BY index_name, non_unique ORDER BY index_name`).Scan(&keys).Error
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func sqliteKeys(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	err := s.reader.Raw(`
		SELECT l.name || ' ' || l."unique" || ' ' || (SELECT group_concat(name) FROM pragma_index_info(l.name))
		FROM sqlite_master m, pragma_index_list(m.name) l
		WHERE m.type = 'table' AND l.origin = 'c' ORDER BY l.name`).Scan(&keys).Error
	if err != nil || len(keys) == 0 {
		t.Fatal(keys, err)
	}
	return keys
}

// The migrations of both come to the same tables: their columns, and which of them may be NULL.
func TestTheTablesAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	tables := func(s *Store, query string) (columns []string) {
		if err := s.reader.Raw(query).Scan(&columns).Error; err != nil || len(columns) == 0 {
			t.Fatal(columns, err)
		}
		return columns
	}
	here := tables(onSQLite.open(t, Options{}), `
		SELECT m.name || '.' || c.name || ' ' || c."notnull" FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT IN ('journal', 'sqlite_sequence') ORDER BY m.name, c.cid`)
	there := tables(onMariaDB.open(t, Options{}), `
		SELECT CONCAT(table_name, '.', column_name, ' ', is_nullable = 'NO') FROM information_schema.columns
		WHERE table_schema = DATABASE() AND table_name NOT LIKE 'goose%' ORDER BY table_name, ordinal_position`)
	if diff := cmp.Diff(here, there); diff != "" {
		t.Error(diff)
	}
}

// A process that dies between a table and the note of it leaves a table that its migration finds.
func TestAMigrationThatDiedHalfwayIsRunAgain(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	exec(t, s, "DELETE FROM goose_db_version WHERE version_id > 0")
	exec(t, s, "DROP TABLE sessions")
	if fresh, err := s.Migrate(context.Background()); err != nil || !fresh {
		t.Errorf("fresh %v, %v", fresh, err)
	}
	if n := count(t, s, "sessions"); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A process that died while it migrated keeps others waiting until its lock runs out, longer than a writer may be idle.
func TestTheLockOfADeadMigrationRunsOut(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	exec(t, s, "DELETE FROM goose_db_version WHERE version_id > 12")
	lease := idleWriter + 2*time.Second
	exec(t, s, "UPDATE goose_lock SET locked = 1, locked_by = 'dead', lease_expires_at = NOW(6) + INTERVAL ? SECOND", int(lease.Seconds()))
	start := time.Now()
	fresh, err := s.Migrate(context.Background())
	if waited := time.Since(start); err != nil || fresh || waited < idleWriter || waited > 2*lease {
		t.Errorf("after %s: fresh %v, %v", waited, fresh, err)
	}
}

func TestTheJournalNeedsSQLite(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := onMariaDB.open(t, Options{})
	item := createItem(t, s)
	_, err := s.LoadJournal(ctx, item.ID)
	for _, err := range []error{err, s.AppendJournal(ctx, item.ID, 1, [][]byte{{1}})} {
		if !errors.Is(err, errNoJournal) {
			t.Errorf("%v", err)
		}
	}
}

func TestReadsSeeOneMoment(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		err := s.read(context.Background(), func(tx *gorm.DB) error {
			before, err := takeItem(tx, item.ID)
			if err != nil {
				return err
			}
			decide(t, s, item.ID, entry(1, "a", 1))
			after, err := takeItem(tx, item.ID)
			if err != nil || after != before {
				t.Errorf("%+v, then %+v, %v", before, after, err)
			}
			if orders, err := findOrders(tx); err != nil || len(orders) != 0 {
				t.Errorf("%d orders of a later moment, %v", len(orders), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestWhatErrorsOfMySQLMean(t *testing.T) {
	t.Parallel()
	d := mysqlDialect(mysql.NewConfig())
	at := func(state string, number uint16) error {
		return fmt.Errorf("in a layer: %w", &mysql.MySQLError{Number: number, SQLState: [5]byte([]byte(state))})
	}
	for _, c := range []struct {
		err             error
		undone, refused bool
	}{
		{at("40001", 1213), true, false}, {commitError{at("40001", 1213)}, true, false}, {at("HY000", 1205), true, false},
		{at("HY000", 1020), true, false}, {at("70100", 1927), true, false}, {mysql.ErrInvalidConn, true, false},
		{commitError{mysql.ErrInvalidConn}, false, false}, {commitError{at("70100", 1927)}, false, false},
		{gorm.ErrDuplicatedKey, false, true}, {at("22001", 1406), false, true}, {at("HY000", 1366), false, true},
		{at("45000", 1644), false, true}, {at("23000", 4025), false, true}, {at("42S02", 1146), false, false},
		{errors.New("other"), false, false},
	} {
		if undone, refused := d.undone(c.err), d.refused(c.err); undone != c.undone || refused != c.refused {
			t.Errorf("%v: undone %v, refused %v", c.err, undone, refused)
		}
	}
}

// What does not fit, or is no text, is refused by itself, and nothing is cut to fit.
func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	s := onMariaDB.open(t, Options{})
	item := model.Item{Title: "Tea", Price: model.Money{Amount: 1, Currency: "CNY"}, Version: 1, Epoch: 1}
	for name, spoil := range map[string]func(*model.Item){
		"too long": func(i *model.Item) { i.Title = strings.Repeat("茶", model.MaxTitle+1) },
		"no text":  func(i *model.Item) { i.Title = "a\xff" },
		"too much": func(i *model.Item) { i.PayWithin = 1 << 40 },
	} {
		bad := item
		spoil(&bad)
		if made, err := s.CreateItem(context.Background(), bad); !s.dialect.refused(err) {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
	item.Title = strings.Repeat("🍵", model.MaxTitle)
	item.Description = strings.Repeat("🍵", 10_000)
	item.ImageURL = "/" + strings.Repeat("é", 1023)
	made, err := s.CreateItem(context.Background(), item)
	if err != nil || getItem(t, s, made.ID) != made {
		t.Errorf("as long as may be: %v", err)
	}
	if _, err := s.Order(context.Background(), "\xff'"); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("no text for a number: %v", err)
	}
}
