package main_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"seckill/model/queue/redistest"
)

// newCutter stands before a server and can lose its replies.
func newCutter(t *testing.T, addr string) *redistest.Proxy { return redistest.NewProxy(t, addr) }

// every calls f with 0, 1, … at once and then after each span, until the test or stop ends it. A call under way is waited
// for.
func every(t *testing.T, span time.Duration, f func(n int)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(span)
		defer tick.Stop()
		for n := 0; ; n++ {
			f(n)
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	}()
	var once sync.Once
	stop = func() {
		once.Do(func() { close(end) })
		<-ended
	}
	t.Cleanup(stop)
	return stop
}

// page is an open socket of a buyer: what a browser would show.
type page struct {
	buyer string
	told  chan ticket // every decided ticket that it is told of
}

// open opens the page of the item. Its reader ends with the socket.
func (p *program) open(itemID, buyer string) *page {
	p.t.Helper()
	conn, pg := p.dial(itemID, buyer), &page{buyer: buyer, told: make(chan ticket, 256)}
	go func() {
		defer close(pg.told)
		for {
			_, frame, err := conn.ReadMessage()
			if err != nil {
				return
			}
			var m struct {
				Type   string
				Ticket *ticket
			}
			if json.Unmarshal(frame, &m) == nil && m.Ticket != nil && m.Ticket.Status != "queued" {
				pg.told <- *m.Ticket
			}
		}
	}()
	return pg
}

// hear is how long after since the page was told of the ticket, and what. It is not ok if the page has not been told
// within the time, or is dead.
func (pg *page) hear(publicTicket string, since time.Time, within time.Duration) (told ticket, took time.Duration, ok bool) {
	limit := time.NewTimer(time.Until(since.Add(within)))
	defer limit.Stop()
	for {
		select {
		case told, ok = <-pg.told:
			if !ok || told.Ticket == publicTicket {
				return told, time.Since(since), ok
			}
		case <-limit.C:
			return ticket{}, within, false
		}
	}
}
