package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func secretPlace(t *testing.T) place {
	dir := filepath.Join(t.TempDir(), "data")
	return place{data: dir, database: filepath.Join(dir, "seckill.db")}
}

func TestSecretIsMadeOnce(t *testing.T) {
	t.Parallel()
	at := secretPlace(t)
	dir, err := at.claim()
	if err != nil {
		t.Fatal(err)
	}
	defer dir.release()
	made, err := at.secret()
	if err != nil || len(made) != 64 {
		t.Fatalf("%q, %v", made, err)
	}
	again, err := at.secret()
	if err != nil || !bytes.Equal(again, made) {
		t.Errorf("a second time %q, %v", again, err)
	}
	for path, want := range map[string]os.FileMode{at.data: 0o700, filepath.Join(at.data, "secret"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	other := secretPlace(t)
	if err := os.MkdirAll(other.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if another, err := other.secret(); err != nil || bytes.Equal(another, made) {
		t.Errorf("another directory has the same secret, or %v", err)
	}
}

func TestSecretThatWasCutOffIsRefused(t *testing.T) {
	t.Parallel()
	at := secretPlace(t)
	if err := os.MkdirAll(at.data, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at.data, "secret"), []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := at.secret(); err == nil || !strings.HasPrefix(err.Error(), "--data: ") {
		t.Errorf("error %v", err)
	}
}

func TestDataIsForOneProcess(t *testing.T) {
	t.Parallel()
	at := secretPlace(t)
	first, err := at.claim()
	if err != nil {
		t.Fatal(err)
	}
	var r settingsRun
	if code := r.run(t.Context(), "--data", at.data, "--listen=127.0.0.1:0"); code != exitWrong ||
		r.stderr.String() != "--data: "+at.data+" is in use by another process\n" {
		t.Errorf("exit code %d, %q", code, r.stderr.String())
	}
	first.release()
	second, err := at.claim()
	if err != nil {
		t.Errorf("after the release: %v", err)
	}
	second.release()
}

// Two data directories do not make two processes on one database right.
func TestDatabaseElsewhereIsForOneProcess(t *testing.T) {
	t.Parallel()
	one, two := secretPlace(t), secretPlace(t)
	one.database = filepath.Join(t.TempDir(), "shop.db")
	two.database = one.database
	first, err := one.claim()
	if err != nil {
		t.Fatal(err)
	}
	defer first.release()
	if _, err := two.claim(); err == nil || !strings.HasPrefix(err.Error(), "--database: ") {
		t.Errorf("error %v", err)
	}
	alone, err := place{data: two.data, database: filepath.Join(two.data, "seckill.db")}.claim()
	if err != nil {
		t.Errorf("a refused process kept its lock: %v", err)
	}
	alone.release()
}

func TestDataThatCanNotBeMade(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var r settingsRun
	if code := r.run(t.Context(), "--data", filepath.Join(file, "data")); code != exitWrong ||
		!strings.HasPrefix(r.stderr.String(), "--data: ") {
		t.Errorf("exit code %d, %q", code, r.stderr.String())
	}
}
