package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"seckill/model/store"
)

// Exit codes of audit.
const (
	auditHolds   = 0
	auditBreach  = 1
	auditNotSeen = 2 // could not look
)

// audit holds each promise against the database, writing nothing, and returns the exit code.
func (p program) audit(ctx context.Context, c cli) int {
	checks, err := p.checks(ctx, c)
	if err == nil {
		err = p.printChecks(checks, c.Audit.JSON)
	}
	switch {
	case err != nil:
		p.exit(err)
		return auditNotSeen
	case !allHold(checks):
		return auditBreach
	}
	return auditHolds
}

func (p program) checks(ctx context.Context, c cli) (checks []store.Check, err error) {
	at, err := c.place()
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, at.dsn(), store.Options{Log: p.log(), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	checks, err = db.Audit(ctx)
	return checks, errors.Join(err, db.Close())
}

func allHold(checks []store.Check) bool {
	for _, c := range checks {
		if !c.OK {
			return false
		}
	}
	return true
}

func (p program) printChecks(checks []store.Check, asJSON bool) error {
	if !asJSON {
		return printCheckLines(p.stdout, checks)
	}
	for n := range checks {
		if checks[n].Breaches == nil {
			checks[n].Breaches = []store.Breach{}
		}
	}
	return json.NewEncoder(p.stdout).Encode(struct {
		OK     bool          `json:"ok"`
		Checks []store.Check `json:"checks"`
	}{allHold(checks), checks})
}

// printCheckLines prints a line for each promise that holds, and one for each breach.
func printCheckLines(w io.Writer, checks []store.Check) error {
	var errs []error
	line := func(format string, args ...any) {
		_, err := fmt.Fprintf(w, format+"\n", args...)
		errs = append(errs, err)
	}
	for _, c := range checks {
		if c.OK {
			line("%s ok", c.Promise)
			continue
		}
		for _, b := range c.Breaches {
			line("%s BREACH%s: %s", c.Promise, breachPlace(b), b.Detail)
		}
	}
	return errors.Join(errs...)
}

// breachPlace names the item and the order of a breach, as far as it has any.
func breachPlace(b store.Breach) string {
	s := ""
	if b.Item != nil {
		s += " item " + b.Item.String()
	}
	if b.Order != nil {
		s += " order " + *b.Order
	}
	return s
}
