package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"seckill/model"
)

// slowGate is a gate that lets one group after the other through, when the test says so.
type slowGate struct {
	groups  [][]model.Buyer
	release chan struct{}
	landed  int64
}

func (s *slowGate) fly(group []*waiter) {
	var buyers []model.Buyer
	for _, w := range group {
		buyers = append(buyers, w.click.Buyer)
	}
	s.groups = append(s.groups, buyers)
	<-s.release
	for _, w := range group {
		s.landed++
		w.tell(Answer{Ticket: model.Ticket{Seq: s.landed, Buyer: w.click.Buyer}}, nil)
	}
}

// arrive has clicks come one after the other; all wait when it returns.
func arrive(g *gather, from, to int, answered func(n int, a Answer, err error)) {
	for n := from; n < to; n++ {
		go func() {
			a, err := g.join(context.Background(), Click{Buyer: model.Buyer(fmt.Sprint(n)), Quantity: 1})
			answered(n, a, err)
		}()
		synctest.Wait()
	}
}

func TestClicksGatherInOrderWhileOneGroupIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := &slowGate{release: make(chan struct{})}
		g := newGather(gate.fly)
		const clicks = 1 + 2*MaxGroup + 7
		answers := make([]int64, clicks)
		arrive(g, 0, clicks, func(n int, a Answer, err error) {
			if err != nil || a.Ticket.Buyer != model.Buyer(fmt.Sprint(n)) {
				t.Errorf("%d: %+v, %v", n, a, err)
			}
			answers[n] = a.Ticket.Seq
		})
		if len(gate.groups) != 1 {
			t.Fatalf("%d groups are under way at once", len(gate.groups))
		}
		close(gate.release)
		synctest.Wait()
		var sizes []int
		for _, group := range gate.groups {
			sizes = append(sizes, len(group))
		}
		if want := []int{1, MaxGroup, MaxGroup, 7}; !slices.Equal(sizes, want) {
			t.Errorf("groups of %v, want %v", sizes, want)
		}
		for n, seq := range answers {
			if seq != int64(n+1) {
				t.Fatalf("click %d has number %d", n+1, seq)
			}
		}
	})
}

func TestClickThatHangsUpIsCarriedOnAndHoldsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := &slowGate{release: make(chan struct{})}
		g := newGather(gate.fly)
		ctx, cancel := context.WithCancel(t.Context())
		var gone error
		go func() { _, gone = g.join(ctx, Click{Buyer: "gone"}) }()
		synctest.Wait()
		var answered atomic.Int64
		arrive(g, 0, 3, func(_ int, _ Answer, err error) {
			if err == nil {
				answered.Add(1)
			}
		})
		cancel()
		synctest.Wait()
		if !errors.Is(gone, context.Canceled) {
			t.Errorf("gone: %v", gone)
		}
		close(gate.release)
		synctest.Wait()
		if answered.Load() != 3 || gate.landed != 4 {
			t.Errorf("%d answered of %d landed", answered.Load(), gate.landed)
		}
	})
}

func TestTooManyWaitingClicksAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := &slowGate{release: make(chan struct{})}
		g := newGather(gate.fly)
		var accepted atomic.Int64
		count := func(_ int, _ Answer, err error) {
			if err == nil {
				accepted.Add(1)
			}
		}
		arrive(g, 0, 1, count)
		arrive(g, 1, 1+MaxWaiting, count)
		if _, err := g.join(t.Context(), Click{Buyer: "one more"}); !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("one more: %v", err)
		}
		close(gate.release)
		synctest.Wait()
		if accepted.Load() != 1+MaxWaiting {
			t.Errorf("%d accepted", accepted.Load())
		}
	})
}

func TestCloseAnswersTheGroupUnderWayAndRefusesTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := &slowGate{release: make(chan struct{})}
		g := newGather(gate.fly)
		errs := make([]error, 3)
		arrive(g, 0, 3, func(n int, _ Answer, err error) { errs[n] = err })
		closed := false
		go func() { g.close(model.ErrUnavailable); closed = true }()
		synctest.Wait()
		if closed || errs[1] == nil || errs[2] == nil {
			t.Errorf("closed %v, waiting clicks %v", closed, errs[1:])
		}
		close(gate.release)
		synctest.Wait()
		if !closed || errs[0] != nil {
			t.Errorf("closed %v, click under way %v", closed, errs[0])
		}
		if _, err := g.join(t.Context(), Click{Buyer: "late"}); !errors.Is(err, model.ErrUnavailable) {
			t.Errorf("late: %v", err)
		}
	})
}
