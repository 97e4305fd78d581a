package queue

import (
	"hash/maphash"
	"sync"
	"time"

	"seckill/model"
)

// maxMet is the most buyers in each of the two generations of those met; eight bytes each, and what a map adds.
const maxMet = 1 << 16

// metSeed hashes buyers, differently in each process.
var metSeed = maphash.MakeSeed()

// soldOut remembers for a moment that an item is sold out, so that the crowd after the sale does not reach Redis. It is
// passed by for buyers who may have a ticket: those whom this process has answered or seen win.
type soldOut struct {
	mu      sync.Mutex
	until   time.Time
	cleared time.Time // what calls that began earlier have said is old

	young, old map[uint64]struct{}
}

// remember notes that a call that began at start was told so.
func (s *soldOut) remember(start time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if start.After(s.cleared) && start.Add(soldOutTime).After(s.until) {
		s.until = start.Add(soldOutTime)
	}
}

// clear forgets it: the gate has changed.
func (s *soldOut) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until, s.cleared = time.Time{}, time.Now()
}

// remembers reports whether buyer is to be told so at now without asking.
func (s *soldOut) remembers(buyer model.Buyer, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Before(s.until) {
		return false
	}
	key := maphash.String(metSeed, string(buyer))
	_, young := s.young[key]
	_, old := s.old[key]
	return !young && !old
}

// meet notes a buyer who has, or may have, a ticket. The older half is forgotten at once.
func (s *soldOut) meet(buyer model.Buyer) {
	key := maphash.String(metSeed, string(buyer))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.young) >= maxMet {
		s.young, s.old = nil, s.young
	}
	if s.young == nil {
		s.young = map[uint64]struct{}{}
	}
	s.young[key] = struct{}{}
}

// hear learns from what is published: a gate that has changed ends what is remembered, and winners have a ticket, also
// those of an item that nobody has clicked on here yet.
func (r *Redis) hear(m Message) {
	switch m.Kind {
	case Changed:
		if i, ok := r.known(m.Item); ok {
			i.clear()
		}
	case Settled:
		r.meetWinners(m)
	}
}

func (r *Redis) meetWinners(m Message) {
	for _, t := range m.Told {
		if t.Verdict != model.Won {
			continue
		}
		i, err := r.item(m.Item)
		if err != nil {
			return // closed: nobody is answered any more
		}
		i.meet(t.Ticket.Buyer)
	}
}
