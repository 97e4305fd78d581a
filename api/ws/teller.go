package ws

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

const (
	// readWait bounds one read of a teller.
	readWait = 2 * time.Second
	// patience is how many reads may fail before a teller lets the rest wait for the next sweep: queue or SQL is away.
	patience = 4
)

// teller reads what a room has to tell: one goroutine for each item with open sockets. What it fails to read is read
// again after the next sweep.
type teller struct {
	room  *room
	desk  *sale.Desk
	queue queue.Queue
	log   *slog.Logger
}

func (t *teller) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.room.wake:
			t.runOnce(ctx, t.room.take())
		}
	}
}

func (t *teller) runOnce(ctx context.Context, c chores) {
	failed := 0
	do := func(read func() error) {
		if failed >= patience {
			return
		}
		if err := read(); err != nil && ctx.Err() == nil {
			failed++
			t.log.Warn("sockets not told", slog.String("item", t.room.item.String()), slog.Any("error", err))
		}
	}
	for _, told := range c.told {
		do(func() error { return t.tell(ctx, told) })
	}
	if c.item {
		do(func() error { return t.readItem(ctx) })
	}
	if c.look {
		for _, buyer := range t.room.buyers() {
			do(func() error { return t.lookUp(ctx, buyer) })
		}
	}
	if failed > 0 {
		t.room.failed()
	}
}

// tell delivers a verdict of the queue.
func (t *teller) tell(ctx context.Context, told queue.Told) error {
	ctx, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	view, err := t.desk.Told(ctx, told)
	if err != nil {
		return err
	}
	t.room.deliver(told.Ticket.Buyer, view)
	return nil
}

func (t *teller) readItem(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	now, err := t.queue.Now(ctx)
	if err != nil {
		return err
	}
	item, err := t.desk.Item(ctx, t.room.item)
	if err != nil {
		return err
	}
	t.room.refresh(item, now)
	return nil
}

// lookUp delivers the verdict of the buyer's newest ticket, if there is one and a socket has not been told. The ticket
// is what the queue says, because the buyer may have joined from anywhere; where it has forgotten the buyer, it is the
// one they were last seen to wait for.
func (t *teller) lookUp(ctx context.Context, buyer model.Buyer) error {
	ctx, cancel := context.WithTimeout(ctx, readWait)
	defer cancel()
	waiting := t.room.waiting(buyer)
	found, err := t.queue.Find(ctx, t.room.item, buyer)
	switch {
	case errors.Is(err, model.ErrNotFound) || errors.Is(err, queue.ErrMissing):
	case err != nil:
		return err
	case found.State == queue.Queued:
		t.room.await(found.Ticket)
		return nil
	case !positionOf(found.Ticket).before(positionOf(waiting)):
		return t.owe(ctx, found)
	}
	if waiting.Seq == 0 {
		return nil
	}
	return t.follow(ctx, waiting)
}

// owe delivers the verdict of a ticket that the queue has decided, unless every socket of the buyer was told.
func (t *teller) owe(ctx context.Context, found queue.Place) error {
	switch {
	case !t.room.owes(found.Ticket.Buyer, positionOf(found.Ticket)):
		return nil
	case found.State == queue.Decided:
		return t.tell(ctx, queue.Told{Ticket: found.Ticket, Verdict: found.Verdict})
	}
	return t.follow(ctx, found.Ticket)
}

// follow looks a ticket up in the queue and in SQL.
func (t *teller) follow(ctx context.Context, ticket model.Ticket) error {
	view, err := t.desk.Follow(ctx, ticket)
	if err != nil || view.Undecided() {
		return err
	}
	t.room.deliver(ticket.Buyer, view)
	return nil
}
