package store

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"

	"seckill/model"
)

func TestUsersAreFoundBytewise(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		var made []User
		for _, name := range []string{"zoe", "amy", "Amy", "amy "} {
			u, err := s.CreateUser(ctx, User{Name: name, Hash: "hash of " + name, Role: RoleAdmin})
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, u)
		}
		for _, u := range made {
			if got, err := s.UserByName(ctx, u.Name); err != nil || got != u {
				t.Errorf("UserByName(%q) = %+v, %v, want %+v", u.Name, got, err, u)
			}
			if got, err := s.User(ctx, u.ID); err != nil || got != u {
				t.Errorf("User(%v) = %+v, %v, want %+v", u.ID, got, err, u)
			}
		}
		users, err := s.Users(ctx)
		if want := []User{made[2], made[1], made[3], made[0]}; err != nil || !slices.Equal(users, want) {
			t.Errorf("Users = %+v, %v, want %+v", users, err, want)
		}
		if _, err := s.UserByName(ctx, "AMY"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("UserByName of nobody: %v", err)
		}
		if _, err := s.User(ctx, 1); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("User of nobody: %v", err)
		}
	})
}

func TestUserNameIsTakenOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		if _, err := s.CreateUser(ctx, User{Name: "amy"}); err != nil {
			t.Fatal(err)
		}
		_, err := s.CreateUser(ctx, User{Name: "amy"})
		var refused *model.Error
		if !errors.As(err, &refused) || refused.Code != model.CodeInvalid || refused.Fields["name"] == "" {
			t.Errorf("second CreateUser: %v, want invalid name", err)
		}
	})
}

// sessionOf keeps a session of the user under the token until expiry.
func sessionOf(t *testing.T, s *Store, token string, user int64, expiry time.Time) {
	t.Helper()
	b, err := scs.GobCodec{}.Encode(expiry, map[string]any{SessionUser: user})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Sessions().CommitCtx(context.Background(), token, b, expiry); err != nil {
		t.Fatal(err)
	}
}

func wantSession(t *testing.T, s *Store, token string, want bool) {
	t.Helper()
	if _, found, err := s.Sessions().FindCtx(context.Background(), token); err != nil || found != want {
		t.Errorf("session %q: found %v, %v, want %v", token, found, err, want)
	}
}

func TestSessionLivesUntilItsEnd(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		now := time.UnixMilli(1_800_000_000_000)
		s := db.open(t, Options{Now: func() time.Time { return now }})
		sessionOf(t, s, "short", 1, now.Add(time.Minute))
		sessionOf(t, s, "long", 1, now.Add(time.Minute))
		sessionOf(t, s, "long", 1, now.Add(time.Hour))
		wantSession(t, s, "short", true)
		wantSession(t, s, "other", false)

		now = now.Add(time.Minute)
		wantSession(t, s, "short", false)
		wantSession(t, s, "long", true)
		if err := s.Sessions().DeleteExpired(ctx); err != nil {
			t.Fatal(err)
		}
		var rows int64
		if err := s.reader.Table("sessions").Count(&rows).Error; err != nil || rows != 1 {
			t.Errorf("%d sessions left, %v, want 1", rows, err)
		}
		if err := s.Sessions().DeleteCtx(ctx, "long"); err != nil {
			t.Fatal(err)
		}
		wantSession(t, s, "long", false)
	})
}

func TestSessionTokenIsNotInTheTable(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		sessionOf(t, s, "secret-token", 1, time.Now().Add(time.Hour))
		var row struct{ Token, Data string }
		if err := s.reader.Raw("SELECT hex(token) AS token, hex(data) AS data FROM sessions").Scan(&row).Error; err != nil {
			t.Fatal(err)
		}
		// echo -n secret-token | sha256sum
		const sum = "930BBDC51B6AED5C2A5678FD6E28DEE7A05E8A4B643CFC0B4427C3EFB86C0D94"
		if row.Token != sum {
			t.Errorf("token %s, want %s", row.Token, sum)
		}
	})
}

func TestNewPasswordEndsTheUsersSessions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		ctx := context.Background()
		s := db.open(t, Options{})
		amy, err := s.CreateUser(ctx, User{Name: "amy", Hash: "old"})
		if err != nil {
			t.Fatal(err)
		}
		zoe, err := s.CreateUser(ctx, User{Name: "zoe", Hash: "old"})
		if err != nil {
			t.Fatal(err)
		}
		end := time.Now().Add(time.Hour)
		sessionOf(t, s, "amy 1", int64(amy.ID), end)
		sessionOf(t, s, "amy 2", int64(amy.ID), end)
		sessionOf(t, s, "zoe", int64(zoe.ID), end)
		if err := s.SetUserHash(ctx, "amy", "new"); err != nil {
			t.Fatal(err)
		}
		if u, err := s.User(ctx, amy.ID); err != nil || u.Hash != "new" {
			t.Errorf("amy's hash is %q, %v", u.Hash, err)
		}
		if u, err := s.User(ctx, zoe.ID); err != nil || u != zoe {
			t.Errorf("zoe is %+v, %v, want %+v", u, err, zoe)
		}
		wantSession(t, s, "amy 1", false)
		wantSession(t, s, "amy 2", false)
		wantSession(t, s, "zoe", true)
		if err := s.SetUserHash(ctx, "nobody", "new"); !errors.Is(err, model.ErrNotFound) {
			t.Errorf("SetUserHash of nobody: %v", err)
		}
	})
}
