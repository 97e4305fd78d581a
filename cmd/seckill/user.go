package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"seckill/api"
	"seckill/model"
	"seckill/model/store"
)

const (
	leastPassword = 8   // characters
	mostName      = 100 // characters
)

// userAdd adds an admin. A running server need not be stopped for it.
func (p program) userAdd(ctx context.Context, c cli) error {
	at, err := c.place()
	if err != nil {
		return err
	}
	name := c.User.Add.Name
	if err := checkName(name); err != nil {
		return err
	}
	hash, err := p.readHash()
	if err != nil {
		return err
	}
	if at.mysql == "" {
		if err := os.MkdirAll(at.data, 0o700); err != nil {
			return err
		}
	}
	return at.withStore(ctx, store.Options{Log: p.log()}, func(db *store.Store, _ bool) error {
		_, err := db.CreateUser(ctx, newAdmin(name, hash))
		if errors.Is(err, &model.Error{Code: model.CodeInvalid}) {
			return fmt.Errorf("the name %q is taken", name)
		}
		return err
	})
}

// userPasswd changes a user's password.
func (p program) userPasswd(ctx context.Context, c cli) error {
	at, err := c.place()
	if err != nil {
		return err
	}
	hash, err := p.readHash()
	if err != nil {
		return err
	}
	name := c.User.Passwd.Name
	return at.withStore(ctx, store.Options{Log: p.log()}, func(db *store.Store, _ bool) error {
		err := db.SetUserHash(ctx, name, hash)
		if errors.Is(err, model.ErrNotFound) {
			return fmt.Errorf("there is no user %q", name)
		}
		return err
	})
}

// userList prints a line for each user: name, role, and when they were added.
func (p program) userList(ctx context.Context, c cli) error {
	at, err := c.place()
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, at.dsn(), store.Options{Log: p.log(), ReadOnly: true})
	if err != nil {
		return err
	}
	users, err := db.Users(ctx)
	for _, u := range users {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\n", u.Name, u.Role, u.CreatedAt)
	}
	return errors.Join(err, db.Close())
}

// firstAdmin adds the user admin while there is no user at all. A password that it has to make is printed, once, by the
// one of several processes that has added the user.
func (p program) firstAdmin(ctx context.Context, db *store.Store, password string) error {
	users, err := db.Users(ctx)
	if err != nil || len(users) > 0 {
		return err
	}
	made := password == ""
	if made {
		password = rand.Text()
	}
	hash, err := api.HashPassword(password)
	if err != nil {
		return err
	}
	switch _, err := db.CreateUser(ctx, newAdmin("admin", hash)); {
	case errors.Is(err, &model.Error{Code: model.CodeInvalid}):
		return nil // another process was first
	case err != nil:
		return err
	}
	if made {
		fmt.Fprintln(p.stdout, "admin password:", password)
	}
	return nil
}

func newAdmin(name, hash string) store.User {
	return store.User{Name: name, Hash: hash, Role: store.RoleAdmin}
}

func checkName(name string) error {
	odd := func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }
	if name == "" || utf8.RuneCountInString(name) > mostName || !utf8.ValidString(name) || strings.ContainsFunc(name, odd) {
		return fmt.Errorf("a name has 1 to %d visible characters", mostName)
	}
	return nil
}

// readHash reads a password, the first line of standard input, and hashes it. It asks for it at a terminal.
func (p program) readHash() (string, error) {
	if f, ok := p.stdin.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			fmt.Fprint(p.stderr, "password: ")
		}
	}
	line, err := bufio.NewReader(p.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimRight(line, "\r\n")
	if utf8.RuneCountInString(password) < leastPassword {
		return "", fmt.Errorf("a password has at least %d characters; it is read from standard input", leastPassword)
	}
	return api.HashPassword(password)
}
