package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

// Exit codes. Audit has its own meaning for 1 and 2.
const (
	exitOK      = 0
	exitFailure = 1
	exitWrong   = 2 // wrong settings; nothing was started
)

// program is what a run of the program gets from outside, beside its arguments.
type program struct {
	environ func(name string) (value string, set bool)
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
}

// run does what the arguments say, until it is done or ctx ends, and returns the exit code.
func (p program) run(ctx context.Context, args []string) int {
	c, err := p.parse(args)
	switch {
	case errors.Is(err, errHelped):
		return exitOK
	case err != nil:
		return p.exit(err)
	case c.command == "audit":
		return p.audit(ctx, c)
	}
	return p.exit(p.do(ctx, c))
}

// do runs every command but audit.
func (p program) do(ctx context.Context, c cli) error {
	switch c.command {
	case "migrate":
		return p.migrate(ctx, c)
	case "user add <name>":
		return p.userAdd(ctx, c)
	case "user passwd <name>":
		return p.userPasswd(ctx, c)
	case "user list":
		return p.userList(ctx, c)
	case "version":
		return p.version()
	}
	s, err := c.settings()
	if err != nil {
		return err
	}
	return p.serve(ctx, s)
}

// exit says what went wrong and returns the exit code of it.
func (p program) exit(err error) int {
	var wrong wrongSettings
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong):
		fmt.Fprintln(p.stderr, wrong.Error())
		return exitWrong
	}
	fmt.Fprintln(p.stderr, "seckill:", err)
	return exitFailure
}

func (p program) log() *slog.Logger { return slog.New(slog.NewTextHandler(p.stderr, nil)) }

// wrongSettings is every wrong setting, each a line "--flag: reason".
type wrongSettings []string

// Error is the lines.
func (w wrongSettings) Error() string { return strings.Join(w, "\n") }

// add notes that the flag is wrong, and why.
func (w *wrongSettings) add(flag, format string, args ...any) {
	*w = append(*w, "--"+flag+": "+fmt.Sprintf(format, args...))
}

// has reports whether the flag is wrong.
func (w wrongSettings) has(flag string) bool {
	return slices.ContainsFunc(w, func(line string) bool { return strings.HasPrefix(line, "--"+flag+": ") })
}

// err is w, or nil if nothing is wrong.
func (w wrongSettings) err() error {
	if len(w) == 0 {
		return nil
	}
	return w
}
