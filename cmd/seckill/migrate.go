package main

import (
	"context"
	"errors"
	"fmt"

	"seckill/model/store"
)

// migrate brings the tables up to date. A SQLite file must not be in use meanwhile.
func (p program) migrate(ctx context.Context, c cli) error {
	at, err := c.place()
	if err != nil {
		return err
	}
	dir, err := at.claim()
	if err != nil {
		return err
	}
	defer dir.release()
	return at.withStore(ctx, store.Options{Log: p.log()}, func(*store.Store, bool) error {
		_, err := fmt.Fprintln(p.stdout, "the tables are up to date")
		return err
	})
}

// withStore opens and migrates the database for do; fresh tells it that there was none before.
func (p place) withStore(ctx context.Context, opt store.Options, do func(db *store.Store, fresh bool) error) error {
	db, err := store.Open(ctx, p.dsn(), opt)
	if err != nil {
		return err
	}
	fresh, err := db.Migrate(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return errors.Join(do(db, fresh), db.Close())
}
