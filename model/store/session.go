package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/alexedwards/scs/v2"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"seckill/model"
)

// SessionUser is the key under which a session has its user's id, an int64. It tells SetUserHash which sessions to end.
const SessionUser = "user"

// Sessions keeps login sessions for scs; it implements scs.CtxStore. Tokens are kept hashed: who reads the table can
// not log in with it. Data is in the form of scs.GobCodec.
type Sessions struct{ s *Store }

var _ scs.CtxStore = Sessions{}

// session is a row.
type session struct {
	Token     []byte `gorm:"primaryKey"` // its SHA-256
	UserID    *int64
	Data      []byte
	ExpiresAt model.Instant
}

// Sessions is the session store on this database.
func (s *Store) Sessions() Sessions { return Sessions{s} }

// FindCtx implements scs.CtxStore.
func (x Sessions) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	var row session
	err := x.s.reader.WithContext(ctx).
		Where("token = ? AND expires_at > ?", hashToken(token), model.InstantOf(x.s.now())).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read session: %w", err)
	}
	return row.Data, true, nil
}

// CommitCtx implements scs.CtxStore.
func (x Sessions) CommitCtx(ctx context.Context, token string, b []byte, expiry time.Time) error {
	_, values, err := scs.GobCodec{}.Decode(b)
	if err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	row := session{Token: hashToken(token), Data: b, ExpiresAt: model.InstantOf(expiry)}
	if id, ok := values[SessionUser].(int64); ok {
		row.UserID = &id
	}
	err = x.s.write(ctx, func(tx *gorm.DB) error {
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error
	})
	if err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return nil
}

// DeleteCtx implements scs.CtxStore.
func (x Sessions) DeleteCtx(ctx context.Context, token string) error {
	return x.delete(ctx, "token = ?", hashToken(token))
}

// DeleteExpired drops the sessions that are over.
func (x Sessions) DeleteExpired(ctx context.Context) error {
	return x.delete(ctx, "expires_at <= ?", model.InstantOf(x.s.now()))
}

func (x Sessions) delete(ctx context.Context, where string, arg any) error {
	err := x.s.write(ctx, func(tx *gorm.DB) error { return tx.Where(where, arg).Delete(&session{}).Error })
	if err != nil {
		return fmt.Errorf("delete sessions: %w", err)
	}
	return nil
}

// Find implements scs.Store.
func (x Sessions) Find(token string) ([]byte, bool, error) {
	return x.FindCtx(context.Background(), token)
}

// Commit implements scs.Store.
func (x Sessions) Commit(token string, b []byte, expiry time.Time) error {
	return x.CommitCtx(context.Background(), token, b, expiry)
}

// Delete implements scs.Store.
func (x Sessions) Delete(token string) error { return x.DeleteCtx(context.Background(), token) }

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}
