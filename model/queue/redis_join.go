package queue

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"seckill/model"
)

// Join implements Queue. Beside the errors of the contract: ErrStale.
func (r *Redis) Join(ctx context.Context, item model.ID, click Click) (Answer, error) {
	i, err := r.item(item)
	if err != nil {
		return Answer{}, err
	}
	if i.remembers(click.Buyer, time.Now()) {
		return Answer{}, model.ErrSoldOut
	}
	return i.clicks.join(ctx, click)
}

// turnAwayTime is how long a call that fails may take before those who wait for the next one are answered too. They
// have waited as long, and nobody is to wait for two calls.
const turnAwayTime = 300 * time.Millisecond

// fly takes a group through the gate with one call. Without a reply nobody knows whether it has run, and the call is
// never sent again: all are answered an outage, and clicking again tells.
func (r *Redis) fly(id model.ID, i *redisItem, group []*waiter) {
	start := time.Now()
	got, err := r.sendGroup(id, group, start)
	if err == nil {
		err = r.land(id, i, group, got, start)
	}
	if err == nil {
		return
	}
	if errors.Is(err, ErrMissing) {
		r.forget(id)
	}
	if time.Since(start) > turnAwayTime {
		i.clicks.turnAway(err)
	}
	for _, w := range group {
		w.tell(Answer{}, err)
	}
}

// sendGroup runs join. The script does nothing once the server's clock has reached the time at which this process gives
// up: a server that was frozen must not take in clicks that were answered.
func (r *Redis) sendGroup(id model.ID, group []*waiter, start time.Time) (reply, error) {
	ctx, cancel := context.WithDeadline(context.Background(), start.Add(callTime))
	defer cancel()
	notAfter, ok := r.clock.reached(start.Add(callTime), clockAge)
	if !ok {
		if _, err := r.askNow(ctx); err != nil {
			return nil, err
		}
		notAfter, _ = r.clock.reached(start.Add(callTime), clockAge)
	}
	args := make([]any, 0, 3+2*len(group))
	args = append(args, int64(notAfter), r.limit, r.channel)
	for _, w := range group {
		args = append(args, string(w.click.Buyer), w.click.Quantity)
	}
	got, err := r.run(ctx, call{r.scripts.join, itemKeys(id), args})
	if err != nil {
		return nil, unavailable(id, "join", err)
	}
	return got, got.standing()
}

// land answers every click of the group from the reply; with an error it has answered none.
func (r *Redis) land(id model.ID, i *redisItem, group []*waiter, got reply, start time.Time) error {
	now, err := got.whole(1)
	if err != nil {
		return unavailable(id, "join", err)
	}
	r.clock.set(model.Instant(now))
	if got.word() == "late" {
		return unavailable(id, "join", errors.New("the call was late"))
	}
	g, err := readGroup(id, group, got)
	if err != nil {
		return unavailable(id, "join", err)
	}
	for n, w := range group {
		switch {
		case g.errs[n] == nil:
			i.meet(w.click.Buyer)
		case errors.Is(g.errs[n], model.ErrSoldOut):
			i.remember(start)
		}
		w.tell(g.answers[n], g.errs[n])
	}
	return nil
}

// landed is a group's answers: for each click one, or an error.
type landed struct {
	answers []Answer
	errs    []error
}

// refusals are the words of the gate.
var refusals = map[string]error{"ended": model.ErrEnded, "not_started": model.ErrNotStarted, "paused": model.ErrPaused,
	"sold_out": model.ErrSoldOut, "queue_full": model.ErrQueueFull}

// readGroup reads the reply of join.
func readGroup(id model.ID, group []*waiter, got reply) (landed, error) {
	var now, epoch, served, seq, queued int64
	if err := got.wholes(1, &now, &epoch, &served, &seq, &queued); err != nil {
		return landed{}, err
	}
	words := got.list(6)
	if len(words) != len(group) {
		return landed{}, fmt.Errorf("%d answers for %d clicks", len(words), len(group))
	}
	g := landed{make([]Answer, len(group)), make([]error, len(group))}
	for n, word := range words {
		if g.errs[n] = refusals[word]; g.errs[n] != nil {
			continue
		}
		if first, ok := strings.CutPrefix(word, "="); ok {
			k, err := strconv.Atoi(first)
			if err != nil || k < 1 || k > n {
				return landed{}, fmt.Errorf("answer %q to click %d", word, n+1)
			}
			g.answers[n] = g.answers[k-1]
			continue
		}
		t := model.Ticket{Item: id, Buyer: group[n].click.Buyer}
		if word == "+" {
			seq++
			t.Epoch, t.Seq, t.Quantity = epoch, seq, group[n].click.Quantity
		} else if err := readMark(word, &t); err != nil {
			return landed{}, err
		}
		g.answers[n] = Answer{Ticket: t, At: model.Instant(now), Marked: t.Seq <= served}
		if t.Seq > served {
			g.answers[n].Ahead = max(min(t.Seq-served, queued)-1, 0)
		}
	}
	return g, nil
}

// readMark fills a ticket from its mark, epoch.seq.quantity.
func readMark(mark string, t *model.Ticket) error {
	parts := strings.Split(mark, ".")
	if len(parts) != 3 {
		return fmt.Errorf("mark %q", mark)
	}
	var n [3]int64
	for k := range n {
		v, err := strconv.ParseInt(parts[k], 10, 64)
		if err != nil {
			return fmt.Errorf("mark %q: %w", mark, err)
		}
		n[k] = v
	}
	t.Epoch, t.Seq, t.Quantity = n[0], n[1], int(n[2])
	return nil
}

// ticketMark is what every mark of the ticket begins with.
func ticketMark(epoch, seq int64) string {
	return strconv.FormatInt(epoch, 10) + "." + strconv.FormatInt(seq, 10) + "."
}
