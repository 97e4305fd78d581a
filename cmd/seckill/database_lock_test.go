package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database is one process's by whatever name and from whatever data directory it is opened.
func TestDatabaseByAnotherNameIsForOneProcess(t *testing.T) {
	t.Parallel()
	owner := secretPlace(t)
	first, err := owner.claim()
	if err != nil {
		t.Fatal(err)
	}
	defer first.release()
	if err := os.WriteFile(owner.database, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	links := t.TempDir()
	for name, target := range map[string]string{"shop.db": owner.database, "data": owner.data} {
		if err := os.Symlink(target, filepath.Join(links, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, database := range []string{owner.database, filepath.Join(links, "shop.db"), filepath.Join(links, "data", "seckill.db")} {
		other := place{data: secretPlace(t).data, database: database}
		if dir, err := other.claim(); err == nil || !strings.HasPrefix(err.Error(), "--database: ") {
			t.Errorf("%s: error %v", database, err)
			dir.release()
		}
	}
}
