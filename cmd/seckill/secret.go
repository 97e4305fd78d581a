package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// dataDir is the data directory and the database, locked for this process.
type dataDir struct{ locks []*flock.Flock }

// claim makes the data directory and locks it, so that a second process keeps out, and locks the database beside its
// file: it may be another's that has a data directory elsewhere. With MySQL there is nothing to claim. The error is
// wrongSettings. The caller releases it.
func (p place) claim() (dataDir, error) {
	if p.mysql != "" {
		return dataDir{}, nil
	}
	var wrong wrongSettings
	if err := os.MkdirAll(p.data, 0o700); err != nil {
		wrong.add("data", "%v", err)
		return dataDir{}, wrong
	}
	var d dataDir
	d.lock(&wrong, "data", p.data, filepath.Join(p.data, "lock"))
	if wrong == nil {
		d.lock(&wrong, "database", p.database, realPath(p.database)+".lock")
	}
	if wrong != nil {
		d.release()
		return dataDir{}, wrong
	}
	return d, nil
}

// realPath is path without symbolic links; the file itself need not be there yet.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

func (d *dataDir) lock(wrong *wrongSettings, flag, what, path string) {
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		wrong.add(flag, "%v", err)
	case !locked:
		wrong.add(flag, "%s is in use by another process", what)
	default:
		d.locks = append(d.locks, lock)
	}
}

// release lets other processes in. The lock files stay: removing one would let two processes lock different files.
func (d dataDir) release() {
	for _, lock := range d.locks {
		_ = lock.Close()
	}
}

// secret is the secret that the data directory keeps, made at the first start. The error is wrongSettings.
func (p place) secret() ([]byte, error) {
	path := filepath.Join(p.data, "secret")
	held, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		held, err = makeSecret(path)
	}
	var wrong wrongSettings
	if err != nil {
		wrong.add("data", "%v", err)
		return nil, wrong
	}
	secret := strings.TrimSpace(string(held))
	if len(secret) < leastSecret {
		wrong.add("data", "%s has fewer than %d bytes", path, leastSecret)
	}
	return []byte(secret), wrong.err()
}

// makeSecret writes a new secret beside path and then renames it: a crash leaves none or a whole one.
func makeSecret(path string) ([]byte, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	text := []byte(hex.EncodeToString(random) + "\n")
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("make %s: %w", path, err)
	}
	return text, os.Rename(path+".new", path)
}
