package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"seckill/model"
)

// Peek implements Queue. Beside the errors of the contract: ErrStale.
func (r *Redis) Peek(ctx context.Context, item model.ID, most int) (Batch, error) {
	got, err := r.call(ctx, item, "peek", r.scripts.peek, max(min(most, MaxPeek), 0))
	if err != nil {
		return Batch{}, err
	}
	b := Batch{Item: item}
	var queued int64
	if err := got.wholes(1, &b.Epoch, &b.Served, &b.Seq, &b.Version, &queued); err != nil {
		return Batch{}, unavailable(item, "peek", err)
	}
	lines := got.list(6)
	b.Entries = make([]model.Entry, len(lines))
	// Numbers are given one after the other: but for what was lost with Redis' data, an entry's place is its number.
	before := int64(0)
	for n, line := range lines {
		e := readLine(line, b.Epoch, before+1, b.Seq-queued+1+int64(n))
		if e.Err != nil {
			e.Epoch, e.Seq = b.Epoch, max(before, b.Served+int64(n))+1
		}
		before = e.Seq
		b.Entries[n] = e
	}
	return b, nil
}

// readLine reads a line of a queue in an epoch, whose number has to be between least and most.
func readLine(line string, epoch, least, most int64) model.Entry {
	e := DecodeEntry([]byte(line))
	switch {
	case e.Err != nil:
	case e.Seq < least || e.Seq > most:
		e = unreadable("number %d, where %d to %d may be", e.Seq, least, most)
	case e.Epoch > epoch:
		e = unreadable("epoch %d in epoch %d", e.Epoch, epoch)
	case !bytes.Equal(EncodeEntry(e), []byte(line)):
		e = unreadable("odd form %.40q", line)
	}
	if e.Err != nil {
		e.Err = lineError{e.Err, line}
	}
	return e
}

// lineError is the reason of an entry that can not be read. It keeps the line, by which settle knows the entry again.
type lineError struct {
	error
	line string
}

func (e lineError) Unwrap() error { return e.error }

// lineOf is an entry's line, as peek saw it.
func lineOf(e model.Entry) string {
	var unread lineError
	if errors.As(e.Err, &unread) {
		return unread.line
	}
	return string(EncodeEntry(e))
}

// Settle implements Queue. Beside the errors of the contract: ErrStale.
func (r *Redis) Settle(ctx context.Context, s Settlement) error {
	if len(s.Verdicts) != len(s.Batch.Entries) {
		return fmt.Errorf("settle item %s: %d verdicts for %d entries", s.Batch.Item, len(s.Verdicts), len(s.Batch.Entries))
	}
	got, err := r.call(ctx, s.Batch.Item, "settle", r.scripts.settle, r.settleArgs(s)...)
	if err != nil {
		return err
	}
	if got.word() == "epoch" {
		return fmt.Errorf("settle item %s: %w", s.Batch.Item, ErrEpoch)
	}
	if i, ok := r.known(s.Batch.Item); ok {
		i.clear()
	}
	return nil
}

func (r *Redis) settleArgs(s Settlement) []any {
	entries := s.Batch.Entries
	head, last, sold := "", int64(0), int64(0)
	if len(entries) > 0 {
		head, last = lineOf(entries[0]), entries[len(entries)-1].Seq
	}
	for n, v := range s.Verdicts {
		if v == model.Won {
			sold += int64(entries[n].Quantity)
		}
	}
	args := []any{s.Batch.Epoch, head, len(entries), last, sold, r.channel, encodeTold(s)}
	args = append(args, rowArgs(s.Item)...)
	for n, e := range entries {
		ticket := ""
		if e.Err == nil {
			ticket = ticketMark(e.Epoch, e.Seq)
		}
		args = append(args, e.Seq, s.Verdicts[n].String(), string(e.Buyer), ticket)
	}
	return args
}

// rowArgs is an item's gate as scripts take it.
func rowArgs(item model.Item) []any {
	g := item.Gate()
	return []any{g.Version, g.Available, int64(g.StartsAt), int64(g.EndsAt), flag(g.Paused), flag(g.Closed)}
}

func flag(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// Mirror implements Queue, for all items in one pipeline. Beside the errors of the contract: ErrStale.
func (r *Redis) Mirror(ctx context.Context, items ...model.Item) error {
	return r.mirror(ctx, false, items...)
}

// mirror also takes older rows over if force is set.
func (r *Redis) mirror(ctx context.Context, force bool, items ...model.Item) error {
	if r.over() {
		return model.ErrUnavailable
	}
	calls := make([]call, len(items))
	for n, item := range items {
		args := append([]any{r.channel, flag(force)}, rowArgs(item)...)
		calls[n] = call{r.scripts.mirror, itemKeys(item.ID), args}
	}
	replies, err := r.runAll(ctx, calls)
	if err != nil {
		return fmt.Errorf("%w: mirror: %w", model.ErrUnavailable, err)
	}
	var errs []error
	for n, got := range replies {
		if err := got.standing(); err != nil {
			errs = append(errs, fmt.Errorf("mirror item %s: %w", items[n].ID, err))
		}
		if i, ok := r.known(items[n].ID); ok {
			i.clear()
		}
	}
	return errors.Join(errs...)
}
