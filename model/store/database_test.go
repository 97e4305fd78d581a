package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"seckill/model/store/mariadbtest"
)

// database is a kind of database that the tests run on.
type database struct {
	name string
	// create makes an empty database that goes with the test, and is its dsn.
	create func(t testing.TB) string
	// copy fills the empty database of to with what s has.
	copy func(t testing.TB, s *Store, to string)
	// poison is a trigger of that name that refuses every order of buyer "bad".
	poison string
}

// The servers that the tests share. Both are in another time zone than the tests, wherever those run.
var (
	mariaDB         = &mariadbtest.Shared{Options: []string{"--default-time-zone=+09:30"}}
	isolatedMariaDB = &mariadbtest.Shared{Options: []string{"--default-time-zone=-03:30", "--innodb-snapshot-isolation=ON"}}
)

var onSQLite = database{
	name:   "sqlite",
	create: func(t testing.TB) string { return "sqlite://" + filepath.Join(t.TempDir(), "seckill.db") },
	copy: func(t testing.TB, s *Store, to string) {
		t.Helper()
		exec(t, s, "VACUUM INTO ?", to[len("sqlite://"):])
	},
	poison: "CREATE TRIGGER poison BEFORE INSERT ON orders WHEN NEW.buyer = CAST('bad' AS BLOB) BEGIN SELECT RAISE(ABORT, 'no'); END",
}

var onMariaDB = onServer("mariadb", mariaDB)

// onServer is the databases of a shared server.
func onServer(name string, server *mariadbtest.Shared) database {
	return database{
		name: name,
		create: func(t testing.TB) string {
			t.Helper()
			server := server.Server(t)
			return server.DSN(server.Database(t))
		},
		copy: copyMariaDB,
		poison: `CREATE TRIGGER poison BEFORE INSERT ON orders FOR EACH ROW
			IF NEW.buyer = 'bad' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF`,
	}
}

func copyMariaDB(t testing.TB, s *Store, to string) {
	t.Helper()
	config, err := mysqlConfig(to)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	err = s.reader.Raw("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables).Error
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, table := range tables {
		exec(t, s, "CREATE TABLE "+config.DBName+"."+table+" LIKE "+table)
		exec(t, s, "INSERT INTO "+config.DBName+"."+table+" SELECT * FROM "+table)
	}
}

// eachDatabase runs a test on every kind of database there is.
func eachDatabase(t *testing.T, test func(t *testing.T, db database)) {
	t.Parallel()
	databases := []database{onSQLite, onMariaDB}
	if !testing.Short() {
		databases = append(databases, onServer("mariadb with snapshot isolation", isolatedMariaDB))
	}
	for _, db := range databases {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			test(t, db)
		})
	}
}

// open is an empty, migrated store of the test's own.
func (db database) open(t testing.TB, opt Options) *Store {
	t.Helper()
	return openAt(t, db.create(t), opt)
}

// openAt is a migrated store on the database that dsn names.
func openAt(t testing.TB, dsn string, opt Options) *Store {
	t.Helper()
	s, err := Open(context.Background(), dsn, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if opt.ReadOnly {
		return s
	}
	if _, err := s.Migrate(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMain(m *testing.M) {
	code := m.Run()
	mariaDB.Stop()
	isolatedMariaDB.Stop()
	os.Exit(code)
}
