package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"seckill/model"
)

// RoleAdmin is the role of those who may administer.
const RoleAdmin = "admin"

// User is an account that can log in. The one role is RoleAdmin.
type User struct {
	ID        model.ID
	Name      string
	Hash      string // argon2id, in its encoded form
	Role      string
	CreatedAt model.Instant
}

// CreateUser inserts a user under a new id. A taken name: model.Invalid of field name.
func (s *Store) CreateUser(ctx context.Context, u User) (User, error) {
	u.ID, u.CreatedAt = s.ids.Next(), model.InstantOf(s.now())
	err := s.write(ctx, func(tx *gorm.DB) error { return tx.Create(&u).Error })
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return User{}, model.Invalid(map[string]string{"name": "is taken"})
	}
	if err != nil {
		return User{}, fmt.Errorf("create user: %w", err)
	}
	return u, nil
}

// UserByName compares names bytewise. None: model.ErrNotFound.
func (s *Store) UserByName(ctx context.Context, name string) (User, error) {
	return takeUser(s.reader.WithContext(ctx).Where("name = ?", name))
}

// User is one user. None: model.ErrNotFound.
func (s *Store) User(ctx context.Context, id model.ID) (User, error) {
	return takeUser(s.reader.WithContext(ctx).Where("id = ?", id))
}

func takeUser(db *gorm.DB) (User, error) {
	var u User
	err := db.Take(&u).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return User{}, model.ErrNotFound
	}
	if err != nil {
		return User{}, fmt.Errorf("read user: %w", err)
	}
	return u, nil
}

// Users is all users, by name.
func (s *Store) Users(ctx context.Context) ([]User, error) {
	var users []User
	if err := s.reader.WithContext(ctx).Order("name").Find(&users).Error; err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	return users, nil
}

// SetUserHash changes a user's password hash and ends all sessions of the user. None: model.ErrNotFound.
func (s *Store) SetUserHash(ctx context.Context, name, hash string) error {
	err := s.write(ctx, func(tx *gorm.DB) error {
		u, err := takeUser(tx.Where("name = ?", name))
		if err != nil {
			return err
		}
		if err := tx.Model(&User{}).Where("id = ?", u.ID).Update("hash", hash).Error; err != nil {
			return err
		}
		return tx.Where("user_id = ?", u.ID).Delete(&session{}).Error
	})
	if err != nil {
		return fmt.Errorf("change password of a user: %w", err)
	}
	return nil
}
