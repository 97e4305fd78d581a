package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/model"
)

// hung is a journal whose statements wait until their contexts end.
type hung struct{ Journal }

func (hung) AppendJournal(ctx context.Context, _ model.ID, _ int64, _ [][]byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hung) LoadJournal(ctx context.Context, _ model.ID) ([]model.EntryGroup, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestJournalThatHangsIsAnOutageInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLocal(hung{}, model.NewClock(time.Now), LocalOptions{})
		item := model.Item{ID: 1, Epoch: 1, Version: 1, Available: 1, StartsAt: 1}
		if err := l.put(newLocalItem(l, newState(item))); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, err := l.Join(t.Context(), 1, Click{Buyer: "ann", Quantity: 1})
		if !errors.Is(err, model.ErrUnavailable) || time.Since(began) != insertTime+rereadTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}

// held is a journal whose inserts wait until the test lets them through.
type held struct {
	Journal
	release chan struct{}
}

func (h held) AppendJournal(context.Context, model.ID, int64, [][]byte) error {
	<-h.release
	return nil
}

// heldItem is an open item on a journal that is held.
func heldItem(t *testing.T, limit int) (*Local, *localItem, held) {
	t.Helper()
	h := held{release: make(chan struct{})}
	l := NewLocal(h, model.NewClock(time.Now), LocalOptions{Limit: limit})
	i := newLocalItem(l, newState(model.Item{ID: 1, Epoch: 1, Version: 1, Available: 1, StartsAt: 1}))
	if err := l.put(i); err != nil {
		t.Fatal(err)
	}
	return l, i, h
}

func TestLimitCountsTheGroupItself(t *testing.T) {
	t.Parallel()
	_, i, h := heldItem(t, 3)
	close(h.release)
	var group []*waiter
	for _, buyer := range []model.Buyer{"a", "b", "a", "c", "d", "b"} {
		group = append(group, &waiter{click: Click{Buyer: buyer, Quantity: 1}, told: make(chan struct{}, 1)})
	}
	i.fly(group)
	for n, seq := range []int64{1, 2, 1, 3, 0, 2} {
		<-group[n].told
		if full := errors.Is(group[n].err, model.ErrQueueFull); group[n].answer.Ticket.Seq != seq || full != (seq == 0) {
			t.Errorf("click %d: %+v, %v", n, group[n].answer, group[n].err)
		}
	}
}

func TestBuyerWhoseTicketIsBeingKeptIsNotRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, _, h := heldItem(t, 0)
		answers := make(chan error, 2)
		join := func() {
			a, err := l.Join(t.Context(), 1, Click{Buyer: "ann", Quantity: 1})
			if err == nil && a.Ticket.Seq != 1 {
				t.Errorf("%+v", a)
			}
			answers <- err
		}
		go join()
		synctest.Wait()
		if err := l.Mirror(t.Context(), model.Item{ID: 1, Version: 2, ClosedAt: 1}); err != nil {
			t.Fatal(err)
		}
		go join()
		synctest.Wait()
		if _, err := l.Join(t.Context(), 1, Click{Buyer: "bob", Quantity: 1}); !errors.Is(err, model.ErrEnded) {
			t.Errorf("another buyer: %v", err)
		}
		close(h.release)
		for range 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSettleLeavesTheMarkOfAnotherTicket(t *testing.T) {
	t.Parallel()
	s := newState(model.Item{ID: 1, Epoch: 1, Version: 1})
	for seq := range int64(2) {
		s.add(model.Entry{Epoch: 1, Seq: seq + 1, At: 1, Quantity: 1, Buyer: "ann"})
	}
	s.settle(s.peek(1), []model.Verdict{model.SoldOut}, []model.BuyerHash{model.Buyer("ann").Hash()})
	if a, marked := s.answer("ann", 1); !marked || a.Ticket.Seq != 2 || a.Marked {
		t.Errorf("%+v, %v", a, marked)
	}
}
