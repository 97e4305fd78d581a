package queue

import (
	"context"
	"errors"
	"fmt"

	"seckill/model"
)

// Look implements Queue. In a state of another life the ticket is Unknown.
func (r *Redis) Look(ctx context.Context, t model.Ticket) (Place, error) {
	got, err := r.call(ctx, t.Item, "look", r.scripts.look, t.Epoch, t.Seq)
	if errors.Is(err, ErrStale) {
		return Place{Ticket: t, State: Unknown}, nil
	}
	if err != nil {
		return Place{}, err
	}
	return readPlace(got, t)
}

// Find implements Queue. Redis keeps each buyer's newest ticket as long as it keeps the item; after it has lost data,
// SQL alone knows the tickets decided before. Beside the errors of the contract: ErrStale.
func (r *Redis) Find(ctx context.Context, item model.ID, buyer model.Buyer) (Place, error) {
	got, err := r.call(ctx, item, "find", r.scripts.find, string(buyer))
	if err != nil {
		return Place{}, err
	}
	if got.word() == "none" {
		return Place{}, model.ErrNotFound
	}
	t := model.Ticket{Item: item, Buyer: buyer}
	if err := readMark(got.text(5), &t); err != nil {
		return Place{}, unavailable(item, "find", err)
	}
	return readPlace(got, t)
}

var places = map[string]State{"queued": Queued, "decided": Decided, "gone": Gone, "unknown": Unknown}

// readPlace reads where a ticket is: ok, epoch, state, ahead, verdict.
func readPlace(got reply, t model.Ticket) (Place, error) {
	p := Place{Ticket: t, State: places[got.text(2)], Verdict: verdictOf(got.text(4))}
	var err error
	if p.Epoch, err = got.whole(1); err == nil {
		p.Ahead, err = got.whole(3)
	}
	if err == nil && (p.State == 0 || (p.State == Decided) != (p.Verdict != 0)) {
		err = fmt.Errorf("state %q with verdict %q", got.text(2), got.text(4))
	}
	if err != nil {
		return Place{}, unavailable(t.Item, "look", err)
	}
	return p, nil
}

// verdictOf is a verdict by its name, zero for none.
func verdictOf(name string) model.Verdict {
	for _, v := range []model.Verdict{model.Won, model.SoldOut, model.Duplicate, model.Ended, model.Failed} {
		if v.String() == name {
			return v
		}
	}
	return 0
}

// Unmark implements Queue. Beside the errors of the contract: ErrStale.
func (r *Redis) Unmark(ctx context.Context, t model.Ticket) error {
	_, err := r.call(ctx, t.Item, "unmark", r.scripts.unmark, string(t.Buyer), ticketMark(t.Epoch, t.Seq), t.Seq)
	return err
}

// Progress implements Queue, for all items in one pipeline. An item whose state is of another life has a zero Epoch too.
func (r *Redis) Progress(ctx context.Context, items ...model.ID) ([]Progress, error) {
	if r.over() {
		return nil, model.ErrUnavailable
	}
	calls := make([]call, len(items))
	for n, id := range items {
		calls[n] = call{r.scripts.progress, itemKeys(id), nil}
	}
	replies, err := r.runAll(ctx, calls)
	if err != nil {
		return nil, fmt.Errorf("%w: progress: %w", model.ErrUnavailable, err)
	}
	progress := make([]Progress, len(items))
	for n, got := range replies {
		p := &progress[n]
		p.Item = items[n]
		if got.standing() != nil {
			continue
		}
		if err := got.wholes(1, &p.Epoch, &p.Served, &p.Seq, &p.Queued, &p.Available, &p.Version); err != nil {
			return nil, unavailable(items[n], "progress", err)
		}
	}
	return progress, nil
}
