package store

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestConnectionsAreSetUpAsAsked(t *testing.T) {
	t.Parallel()
	// A path with the marks of a URI is still a path.
	s := openAt(t, "sqlite://"+filepath.Join(t.TempDir(), "a b?c#d%41.db"), Options{})
	for _, c := range []struct {
		side, pragma, want string
	}{
		{"writer", "journal_mode", "wal"}, {"writer", "synchronous", "2"}, {"writer", "busy_timeout", "5000"},
		{"writer", "query_only", "0"},
		{"reader", "journal_mode", "wal"}, {"reader", "busy_timeout", "5000"}, {"reader", "query_only", "1"},
	} {
		db := s.writer
		if c.side == "reader" {
			db = s.reader
		}
		var got string
		if err := db.Raw("PRAGMA " + c.pragma).Scan(&got).Error; err != nil || got != c.want {
			t.Errorf("%s of the %s: %q, %v; want %q", c.pragma, c.side, got, err, c.want)
		}
	}
}

func TestReadersCanNotWrite(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		if err := s.reader.Exec("DELETE FROM items").Error; err == nil {
			t.Error("a reader has written")
		}
		if got := getItem(t, s, item.ID); got != item {
			t.Errorf("%+v", got)
		}
	})
}

func TestMigrateTellsFreshFromOld(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s, err := Open(ctx, db.create(t), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, want := range []bool{true, false} {
			if fresh, err := s.Migrate(ctx); err != nil || fresh != want {
				t.Errorf("fresh %v, %v; want %v", fresh, err, want)
			}
		}
	})
}

func TestOpeningToLookNeverCreatesNorWrites(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "x.db")
	if s, err := Open(ctx, "sqlite://"+path, Options{ReadOnly: true}); err == nil {
		t.Error("opened a missing file", s.Close())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("made the file")
	}
	openAt(t, "sqlite://"+path, Options{})
	look := openAt(t, "sqlite://"+path, Options{ReadOnly: true})
	if err := look.Ping(ctx); err != nil {
		t.Error(err)
	}
	if _, err := look.Migrate(ctx); err == nil {
		t.Error("migrated")
	}
}

func TestOpenRefusesOtherDatabases(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"", "sqlite://", "x.db", "postgres://x"} {
		if s, err := Open(context.Background(), dsn, Options{}); err == nil {
			t.Errorf("opened %q: %v", dsn, s.Close())
		}
	}
}
