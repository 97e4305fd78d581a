package queue

import (
	"context"
	"sync"

	"seckill/model"
)

// MaxWaiting is the most clicks of one item that wait in a process for their group. One more is answered
// model.ErrUnavailable: so many wait only when the gate has stopped answering.
const MaxWaiting = 10_000

// gather is one item's clicks in this process that wait for the gate. While one group is under way the next gathers, so
// that the slower the gate, the larger the groups; nobody waits for a timer. Groups go one at a time, in the order
// in which join was called. No goroutine runs while nobody waits.
type gather struct {
	// fly takes a group of 1 to MaxGroup through the gate and answers every click in it. It must not keep the slice.
	fly func(group []*waiter)

	waiters sync.Pool
	group   []*waiter // under way; of the flight alone

	mu      sync.Mutex
	landed  sync.Cond // flying has become false
	waiting deque[*waiter]
	flying  bool
	closed  error
}

// waiter is one click on its way.
type waiter struct {
	click  Click
	answer Answer
	err    error
	told   chan struct{} // has room for the one answer, so that a click that hung up holds nobody
}

// tell gives the click its answer; from then on the waiter belongs to the click again.
func (w *waiter) tell(a Answer, err error) {
	w.answer, w.err = a, err
	w.told <- struct{}{}
}

func newGather(fly func(group []*waiter)) *gather {
	g := &gather{fly: fly, group: make([]*waiter, 0, MaxGroup)}
	g.landed.L = &g.mu
	g.waiters.New = func() any { return &waiter{told: make(chan struct{}, 1)} }
	return g
}

// join waits for the click's answer. When ctx ends first its error is returned, and the click goes on without its
// caller.
func (g *gather) join(ctx context.Context, click Click) (Answer, error) {
	w := g.waiters.Get().(*waiter)
	w.click = click
	if err := g.wait(w); err != nil {
		g.waiters.Put(w)
		return Answer{}, err
	}
	select {
	case <-w.told:
		answer, err := w.answer, w.err
		w.answer, w.err, w.click = Answer{}, nil, Click{}
		g.waiters.Put(w)
		return answer, err
	case <-ctx.Done():
		return Answer{}, ctx.Err() // the flight still has the waiter: it is not put back
	}
}

// wait adds a click to the next group, and starts the flights if none is under way.
func (g *gather) wait(w *waiter) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed != nil {
		return g.closed
	}
	if g.waiting.len() >= MaxWaiting {
		return model.ErrUnavailable
	}
	g.waiting.push(w)
	if !g.flying {
		g.flying = true
		go g.run()
	}
	return nil
}

// run flies group after group until nobody waits.
func (g *gather) run() {
	for g.next() {
		g.fly(g.group)
	}
}

// next makes the next group; false ends the flights.
func (g *gather) next() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.group)
	g.group = g.group[:0]
	for n := range min(g.waiting.len(), MaxGroup) {
		g.group = append(g.group, *g.waiting.at(n))
	}
	g.waiting.trim(len(g.group))
	if len(g.group) == 0 {
		g.flying = false
		g.landed.Broadcast()
	}
	return g.flying
}

// close answers err to every click that is not under way, now and later, and waits for the flight to land.
func (g *gather) close(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = err
	g.refuse(err)
	for g.flying {
		g.landed.Wait()
	}
}

// turnAway answers err to every click that is not under way: the gate does not answer, and they would wait as long again.
func (g *gather) turnAway(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse(err)
}

// refuse answers err to all who wait. The lock is held.
func (g *gather) refuse(err error) {
	for n := range g.waiting.len() {
		(*g.waiting.at(n)).tell(Answer{}, err)
	}
	g.waiting.trim(g.waiting.len())
}
