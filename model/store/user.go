package store

import (
	"context"
	"time"

	"seckill/model"
)

// User is an account that can log in. Role is "admin"; others follow.
type User struct {
	ID        model.ID
	Name      string
	Hash      string // argon2id, in its encoded form
	Role      string
	CreatedAt model.Instant
}

// CreateUser inserts a user under a new id. A taken name: model.Invalid of field name.
func (s *Store) CreateUser(ctx context.Context, u User) (User, error) { panic("todo") }

// UserByName compares names bytewise. None: model.ErrNotFound.
func (s *Store) UserByName(ctx context.Context, name string) (User, error) { panic("todo") }

// User is one user. None: model.ErrNotFound.
func (s *Store) User(ctx context.Context, id model.ID) (User, error) { panic("todo") }

// Users is all users, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) { panic("todo") }

// SetUserHash changes a user's password hash and ends all sessions of the user. None: model.ErrNotFound.
func (s *Store) SetUserHash(ctx context.Context, name, hash string) error { panic("todo") }

// Sessions keeps login sessions for scs; it implements scs.CtxStore. Tokens are kept hashed.
type Sessions struct{ s *Store }

// Sessions is the session store on this database.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx implements scs.CtxStore.
func (x Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) { panic("todo") }

// CommitCtx implements scs.CtxStore.
func (x Sessions) CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error {
	panic("todo")
}

// DeleteCtx implements scs.CtxStore.
func (x Sessions) DeleteCtx(ctx context.Context, token string) error { panic("todo") }

// DeleteExpired drops the sessions that are over.
func (x Sessions) DeleteExpired(ctx context.Context) error { panic("todo") }
