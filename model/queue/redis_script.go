package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// scripts is every script, each with the prelude before it.
type scripts struct {
	join, peek, settle, mirror, unmark, look, find, progress, install, beat *redis.Script
}

// newScripts reads the scripts; change is the last word on their text.
func newScripts(change func(string) string) *scripts {
	prelude := readScript("prelude")
	of := func(name string) *redis.Script { return redis.NewScript(change(prelude + readScript(name))) }
	return &scripts{join: of("join"), peek: of("peek"), settle: of("settle"), mirror: of("mirror"), unmark: of("unmark"),
		look: of("look"), find: of("find"), progress: of("progress"), install: of("install"),
		beat: redis.NewScript(readScript("beat"))}
}

func readScript(name string) string {
	b, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // the file is built in
	}
	return string(b)
}

// call is one script with what it is called with.
type call struct {
	script *redis.Script
	keys   []string
	args   []any
}

// run calls a script once. A server that does not have it is sent its text: it has said that it ran nothing. No other
// call is ever sent twice, since one without a reply may have run.
func (r *Redis) run(ctx context.Context, c call) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	got, err := r.commands.EvalSha(ctx, c.script.Hash(), c.keys, c.args...).Slice()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		got, err = c.script.Eval(ctx, r.commands, c.keys, c.args...).Slice()
	}
	return reply(got), err
}

// maxPipeline is the most calls that go in one pipeline, so that others get their turn in between.
const maxPipeline = 200

// runAll calls scripts in pipelines; those that the server did not have go in a second one. The replies are in the order
// of the calls. An error is of the first call that has no reply.
func (r *Redis) runAll(ctx context.Context, calls []call) ([]reply, error) {
	replies := make([]reply, 0, len(calls))
	for len(calls) > 0 {
		n := min(len(calls), maxPipeline)
		part, err := r.runPipeline(ctx, calls[:n])
		if err != nil {
			return nil, err
		}
		replies = append(replies, part...)
		calls = calls[n:]
	}
	return replies, nil
}

func (r *Redis) runPipeline(ctx context.Context, calls []call) ([]reply, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	cmds := make([]*redis.Cmd, len(calls))
	p := r.commands.Pipeline()
	for n, c := range calls {
		cmds[n] = p.EvalSha(ctx, c.script.Hash(), c.keys, c.args...)
	}
	_, err := p.Exec(ctx)
	p = r.commands.Pipeline()
	for n, c := range calls {
		if redis.HasErrorPrefix(cmds[n].Err(), "NOSCRIPT") {
			cmds[n] = c.script.Eval(ctx, p, c.keys, c.args...)
		}
	}
	if p.Len() > 0 {
		_, err = p.Exec(ctx)
	}
	replies := make([]reply, len(cmds))
	for n, cmd := range cmds {
		got, cmdErr := cmd.Slice()
		if cmdErr != nil {
			return nil, errors.Join(cmdErr, err)
		}
		replies[n] = got
	}
	return replies, nil
}

// reply is what a script returned: a word, then what belongs to it.
type reply []any

// word is the first, which says how it went.
func (r reply) word() string { return r.text(0) }

// text is a string of the reply; empty where there is none.
func (r reply) text(n int) string {
	if n >= len(r) {
		return ""
	}
	s, _ := r[n].(string)
	return s
}

// whole is a number of the reply.
func (r reply) whole(n int) (int64, error) {
	v, err := strconv.ParseInt(r.text(n), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("reply %q: %w", r.word(), err)
	}
	return v, nil
}

// wholes is the numbers of the reply from place from on.
func (r reply) wholes(from int, to ...*int64) error {
	for n, v := range to {
		got, err := r.whole(from + n)
		if err != nil {
			return err
		}
		*v = got
	}
	return nil
}

// list is a list of strings within the reply.
func (r reply) list(n int) []string {
	if n >= len(r) {
		return nil
	}
	values, _ := r[n].([]any)
	list := make([]string, len(values))
	for k, v := range values {
		list[k], _ = v.(string)
	}
	return list
}

// standing is nil for a reply of a state that stands, ErrMissing or ErrStale for one that does not.
func (r reply) standing() error {
	switch r.word() {
	case "missing":
		return ErrMissing
	case "stale":
		return ErrStale
	}
	return nil
}
