package api

import (
	"context"
	"fmt"

	"github.com/alexedwards/argon2id"

	"seckill/model"
)

const (
	// hashesAtOnce bounds the memory (64 MiB each) and the cores that logins take from the sale.
	hashesAtOnce = 2
	// hashesWaiting is how many may wait for their turn; the last one waits a few seconds.
	hashesWaiting = 32
)

// nobodysHash has hashParams and no password: what a password is compared with when there is no such user.
const nobodysHash = "$argon2id$v=19$m=65536,t=1,p=2$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// hashParams is above what OWASP asks for at least (46 MiB, one pass), and the same on every machine.
func hashParams() *argon2id.Params {
	return &argon2id.Params{Memory: 64 * 1024, Iterations: 1, Parallelism: 2, SaltLength: 16, KeyLength: 32}
}

// hashing is one for the process, because the memory and the cores are the process's.
var hashing = newHashGate(hashesAtOnce, hashesWaiting)

// hashGate lets a few hashes be computed at a time, and a few more wait. Safe for concurrent use.
type hashGate struct {
	running chan struct{}
	inside  chan struct{} // running and waiting
}

func newHashGate(atOnce, waiting int) hashGate {
	return hashGate{running: make(chan struct{}, atOnce), inside: make(chan struct{}, atOnce+waiting)}
}

// do calls f in its turn. Too many before it: model.ErrUnavailable; ctx over before its turn: the context's error.
func (g hashGate) do(ctx context.Context, f func() error) error {
	select {
	case g.inside <- struct{}{}:
		defer func() { <-g.inside }()
	default:
		return model.ErrUnavailable
	}
	select {
	case g.running <- struct{}{}:
		defer func() { <-g.running }()
	case <-ctx.Done():
		return fmt.Errorf("wait to hash a password: %w", ctx.Err())
	}
	return f()
}

// HashPassword is the argon2id hash of a password, in its encoded form, for store.User. At most two are computed at a
// time in a process; with 32 more waiting it is model.ErrUnavailable.
func HashPassword(password string) (string, error) {
	var hash string
	err := hashing.do(context.Background(), func() (err error) {
		hash, err = argon2id.CreateHash(password, hashParams())
		return err
	})
	return hash, err
}

// comparePassword reports whether hash is one of the password. It waits for its turn as HashPassword does.
func comparePassword(ctx context.Context, password, hash string) (bool, error) {
	var match bool
	err := hashing.do(ctx, func() (err error) {
		match, err = argon2id.ComparePasswordAndHash(password, hash)
		return err
	})
	return match, err
}
