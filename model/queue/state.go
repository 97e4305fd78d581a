package queue

import (
	"sort"
	"strings"

	"seckill/model"
)

// state is what Local knows of one item: a list in memory and the arithmetic on it. It does no I/O and has no lock.
type state struct {
	item   model.ID
	epoch  int64
	served int64 // the highest number settled
	seq    int64 // the highest number given
	gate   model.Gate

	entries  deque[slot]
	odd      map[int64]model.Entry // by number: the entries that a slot can not hold
	marks    map[model.Buyer]mark  // undecided tickets, and winners
	newest   newest
	verdicts verdicts
}

// slot is an entry of the state's epoch. Many wait at once, so it is small.
type slot struct {
	seq      int64
	at       model.Instant
	buyer    model.Buyer
	quantity int32
	odd      bool // unreadable, or of another epoch: see state.odd
}

// newState is an empty queue that goes on after the item's decided numbers.
func newState(item model.Item) *state {
	return &state{item: item.ID, epoch: item.Epoch, served: item.Decided, seq: item.Decided, gate: item.Gate(),
		odd: map[int64]model.Entry{}, marks: map[model.Buyer]mark{},
		newest: newest{most: maxNewest}, verdicts: verdicts{most: maxVerdicts, base: item.Decided + 1}}
}

// add appends an entry with a number above all before, and marks its buyer. It keeps nothing of a larger string that
// the buyer may be cut from.
func (s *state) add(e model.Entry) {
	s.seq = e.Seq
	buyer := model.Buyer(strings.Clone(string(e.Buyer)))
	odd := e.Err != nil || e.Epoch != s.epoch
	s.entries.push(slot{seq: e.Seq, at: e.At, buyer: buyer, quantity: int32(e.Quantity), odd: odd})
	if odd {
		s.odd[e.Seq] = e
	}
	if e.Err == nil {
		s.marks[buyer] = mark{epoch: e.Epoch, seq: e.Seq, quantity: int32(e.Quantity)}
	}
}

// absorb appends what the journal has above the numbers given.
func (s *state) absorb(groups []model.EntryGroup) {
	for _, g := range groups {
		for n, line := range g.Lines {
			if seq := g.From + int64(n); seq > s.seq {
				s.add(s.decode(seq, line))
			}
		}
	}
}

// decode reads a line by its place; one whose number disagrees, or of an epoch that is still to come, is unreadable too.
func (s *state) decode(seq int64, line []byte) model.Entry {
	e := DecodeEntry(line)
	switch {
	case e.Err != nil:
	case e.Seq != seq:
		e = unreadable("number %d in the place of %d", e.Seq, seq)
	case e.Epoch > s.epoch:
		e = unreadable("epoch %d in epoch %d", e.Epoch, s.epoch)
	}
	if e.Err != nil {
		e.Epoch, e.Seq = s.epoch, seq
	}
	return e
}

func (s *state) entry(n int) model.Entry {
	e := s.entries.at(n)
	if e.odd {
		return s.odd[e.seq]
	}
	return model.Entry{Epoch: s.epoch, Seq: e.seq, At: e.at, Quantity: int(e.quantity), Buyer: e.buyer}
}

// answer is what a buyer with a mark is told, whatever the gate says.
func (s *state) answer(buyer model.Buyer, now model.Instant) (Answer, bool) {
	m, ok := s.marks[buyer]
	if !ok {
		return Answer{}, false
	}
	a := Answer{Ticket: s.ticket(buyer, m), At: now, Marked: m.seq <= s.served}
	if !a.Marked {
		a.Ahead = s.ahead(m.seq)
	}
	return a, true
}

func (s *state) ticket(buyer model.Buyer, m mark) model.Ticket {
	return model.Ticket{Item: s.item, Epoch: m.epoch, Seq: m.seq, Quantity: int(m.quantity), Buyer: buyer}
}

func (s *state) ahead(seq int64) int64 {
	return max(min(seq-s.served, int64(s.entries.len()))-1, 0)
}

func (s *state) peek(most int) Batch {
	b := Batch{Item: s.item, Epoch: s.epoch, Served: s.served, Seq: s.seq, Version: s.gate.Version}
	n := max(min(most, MaxPeek, s.entries.len()), 0)
	b.Entries = make([]model.Entry, n)
	for k := range n {
		b.Entries[k] = s.entry(k)
	}
	return b
}

// atHead reports whether the batch's entries are the oldest ones of the list.
func (s *state) atHead(b Batch) bool {
	n := len(b.Entries)
	return n > 0 && n <= s.entries.len() && s.entries.at(0).seq == b.Entries[0].Seq &&
		s.entries.at(n-1).seq == b.Entries[n-1].Seq
}

// settle takes a batch that stands at the head off the list; hashes are those of its buyers.
func (s *state) settle(b Batch, decided []model.Verdict, hashes []model.BuyerHash) {
	for n, e := range b.Entries {
		s.verdicts.set(e.Seq, decided[n])
		if e.Err != nil {
			continue
		}
		m := mark{epoch: e.Epoch, seq: e.Seq, quantity: int32(e.Quantity)}
		s.newest.set(hashes[n], m)
		if decided[n] != model.Won && s.marks[e.Buyer] == m {
			delete(s.marks, e.Buyer)
		}
	}
	for n := range b.Entries {
		if e := s.entries.at(n); e.odd {
			delete(s.odd, e.seq)
		}
	}
	s.entries.trim(len(b.Entries))
	s.served = max(s.served, b.Entries[len(b.Entries)-1].Seq)
}

// unmark forgets that the buyer has this ticket, if it is decided.
func (s *state) unmark(t model.Ticket) {
	if m, ok := s.marks[t.Buyer]; ok && m.seq == t.Seq && m.epoch == t.Epoch && m.seq <= s.served {
		delete(s.marks, t.Buyer)
	}
}

// mirror takes a newer row's gate.
func (s *state) mirror(item model.Item) bool {
	if item.Version <= s.gate.Version {
		return false
	}
	s.gate = item.Gate()
	return true
}

func (s *state) look(t model.Ticket) Place {
	p := Place{Ticket: t, Epoch: s.epoch, State: Gone}
	switch {
	case t.Epoch > s.epoch || t.Epoch == s.epoch && t.Seq > s.seq:
		p.State = Unknown
	case t.Seq > s.served:
		if s.queued(t) {
			p.State, p.Ahead = Queued, s.ahead(t.Seq)
		}
	case t.Epoch == s.epoch:
		if v := s.verdicts.get(t.Seq); v != 0 {
			p.State, p.Verdict = Decided, v
		}
	}
	return p
}

// queued reports whether the ticket stands in the list.
func (s *state) queued(t model.Ticket) bool {
	n := sort.Search(s.entries.len(), func(n int) bool { return s.entries.at(n).seq >= t.Seq })
	return n < s.entries.len() && s.entries.at(n).seq == t.Seq && s.entry(n).Epoch == t.Epoch
}

// find is the buyer's undecided ticket, else the newest one.
func (s *state) find(buyer model.Buyer, hash model.BuyerHash) (Place, error) {
	m, marked := s.marks[buyer]
	if decided, ok := s.newest.get(hash); ok && decided.seq > m.seq {
		m, marked = decided, true
	}
	if !marked {
		return Place{}, model.ErrNotFound
	}
	return s.look(s.ticket(buyer, m)), nil
}

func (s *state) progress() Progress {
	return Progress{Item: s.item, Epoch: s.epoch, Served: s.served, Seq: s.seq, Queued: int64(s.entries.len()),
		Available: s.gate.Available, Version: s.gate.Version}
}
