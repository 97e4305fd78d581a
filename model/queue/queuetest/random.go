package queuetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"seckill/model"
	"seckill/model/queue"
)

// randomActs holds a queue against a model that is too simple to be wrong: a slice and some maps.
func randomActs(t *testing.T, b *Backend) {
	now := start
	b.SetNow(now)
	rapid.Check(t, func(r *rapid.T) {
		m := &modelled{t: t, b: b, now: &now, row: b.create(t, stock(6)), marks: map[model.Buyer]model.Ticket{},
			newest: map[model.Buyer]model.Ticket{}, verdicts: map[int64]model.Verdict{}, told: map[int64]bool{},
			won: map[model.Buyer]model.Ticket{}}
		m.install(r)
		r.Repeat(map[string]func(*rapid.T){"": m.check, "join": m.join, "decide": m.decide, "settle again": m.settleAgain,
			"gate": m.gate, "old row": m.oldRow, "unmark": m.unmark, "look": m.look, "find": m.find, "restart": m.restart, "time": m.time})
	})
}

// modelled is one item as the queue should have it.
type modelled struct {
	t   *testing.T
	b   *Backend
	now *model.Instant
	row model.Item // its gate is that of the mirror

	queued   []model.Ticket
	served   int64
	seq      int64
	marks    map[model.Buyer]model.Ticket
	newest   map[model.Buyer]model.Ticket
	verdicts map[int64]model.Verdict
	told     map[int64]bool // decided in this life of the process
	won      map[model.Buyer]model.Ticket
	batches  []queue.Settlement
}

var someone = rapid.SampledFrom([]model.Buyer{"a", "b", "c", "A", "a ", "1|1|1|1|1|a", "\x00"})

func same[T comparable](r *rapid.T, what string, got, want T) {
	if got != want {
		r.Fatalf("%s: %+v, want %+v", what, got, want)
	}
}

func fine(r *rapid.T, err error) {
	if err != nil {
		r.Fatal(err)
	}
}

func (m *modelled) install(r *rapid.T) { fine(r, m.b.Queue.Install(m.t.Context(), m.row)) }

func (m *modelled) ahead(seq int64) int64 { return min(seq-m.served, int64(len(m.queued))) - 1 }

func (m *modelled) check(r *rapid.T) {
	got, err := m.b.Queue.Progress(m.t.Context(), m.row.ID)
	fine(r, err)
	same(r, "progress", got[0], queue.Progress{Item: m.row.ID, Epoch: 1, Served: m.served, Seq: m.seq,
		Queued: int64(len(m.queued)), Available: m.row.Available, Version: m.row.Version})
}

func (m *modelled) join(r *rapid.T) {
	buyer, quantity := someone.Draw(r, "buyer"), rapid.IntRange(1, 3).Draw(r, "quantity")
	got, err := m.b.Queue.Join(m.t.Context(), m.row.ID, queue.Click{Buyer: buyer, Quantity: quantity})
	ticket, marked := m.marks[buyer]
	if !marked {
		if refusal := m.row.Gate().Refuses(*m.now); refusal != nil {
			if !errors.Is(err, refusal) {
				r.Fatalf("join: %v, want %v", err, refusal)
			}
			m.b.SetNow(*m.now) // the next click is asked about again
			return
		}
		m.seq++
		ticket = model.Ticket{Item: m.row.ID, Epoch: 1, Seq: m.seq, Quantity: quantity, Buyer: buyer}
		m.marks[buyer], m.newest[buyer] = ticket, ticket
		m.queued = append(m.queued, ticket)
	}
	fine(r, err)
	want := queue.Answer{Ticket: ticket, Marked: ticket.Seq <= m.served, At: *m.now}
	if !want.Marked {
		want.Ahead = m.ahead(ticket.Seq)
	}
	same(r, "answer", got, want)
}

func (m *modelled) decide(r *rapid.T) {
	ctx := m.t.Context()
	batch, err := m.b.Queue.Peek(ctx, m.row.ID, rapid.IntRange(1, 4).Draw(r, "most"))
	fine(r, err)
	for n, e := range batch.Entries {
		same(r, "entry", ticketOf(m.row.ID, e), m.queued[n])
	}
	if len(batch.Entries) == 0 {
		same(r, "queued", len(m.queued), 0)
		return
	}
	verdicts, judged, err := m.b.Judge.Decide(ctx, m.row.ID, 1, batch.Entries)
	fine(r, err)
	m.row.Decided = judged.Decided
	m.row.Version++
	m.row.Available = judged.Available
	s := queue.Settlement{Batch: batch, Verdicts: verdicts, Item: m.row}
	fine(r, m.b.Queue.Settle(ctx, s))
	m.batches = append(m.batches, s)
	m.take(verdicts)
}

// take settles the oldest of the model.
func (m *modelled) take(verdicts []model.Verdict) {
	for n, v := range verdicts {
		ticket := m.queued[n]
		m.served = ticket.Seq
		m.verdicts[ticket.Seq], m.told[ticket.Seq] = v, true
		if v == model.Won {
			m.won[ticket.Buyer] = ticket
		} else {
			delete(m.marks, ticket.Buyer)
		}
	}
	m.queued = slices.Delete(m.queued, 0, len(verdicts))
}

func (m *modelled) settleAgain(r *rapid.T) {
	if len(m.batches) == 0 {
		r.Skip("nothing is settled")
	}
	s := rapid.SampledFrom(m.batches).Draw(r, "batch")
	fine(r, m.b.Queue.Settle(m.t.Context(), s))
}

func (m *modelled) gate(r *rapid.T) {
	m.row.Version += rapid.Int64Range(1, 3).Draw(r, "versions")
	m.row.Available = rapid.Int64Range(0, 2).Draw(r, "available")
	m.row.Paused = rapid.IntRange(0, 4).Draw(r, "paused") == 0
	m.row.StartsAt = *m.now + model.Instant(rapid.IntRange(-5, 1).Draw(r, "starts"))
	m.row.EndsAt = *m.now + model.Instant(rapid.IntRange(0, 10).Draw(r, "ends"))
	fine(r, m.b.Queue.Mirror(m.t.Context(), m.row))
}

func (m *modelled) time(r *rapid.T) {
	*m.now += model.Instant(rapid.IntRange(0, 3).Draw(r, "ms"))
	m.b.SetNow(*m.now)
}

func (m *modelled) oldRow(r *rapid.T) {
	old := m.row
	old.Version -= rapid.Int64Range(0, 3).Draw(r, "versions")
	old.Available += 5
	old.ClosedAt = 1
	fine(r, m.b.Queue.Mirror(m.t.Context(), old))
}

func (m *modelled) unmark(r *rapid.T) {
	buyer := someone.Draw(r, "buyer")
	ticket, known := m.newest[buyer]
	if !known {
		r.Skip("no ticket")
	}
	ticket.Seq -= rapid.Int64Range(0, 1).Draw(r, "less")
	fine(r, m.b.Queue.Unmark(m.t.Context(), ticket))
	if m.marks[buyer] == ticket && ticket.Seq <= m.served {
		delete(m.marks, buyer)
	}
}

func (m *modelled) look(r *rapid.T) {
	ticket := model.Ticket{Item: m.row.ID, Epoch: 1, Quantity: 1, Buyer: "a",
		Seq: rapid.Int64Range(1, m.seq+2).Draw(r, "seq")}
	got, err := m.b.Queue.Look(m.t.Context(), ticket)
	fine(r, err)
	m.holds(r, got, ticket)
}

// holds checks a place against the model.
func (m *modelled) holds(r *rapid.T, got queue.Place, ticket model.Ticket) {
	want := queue.Place{Ticket: ticket, Epoch: 1}
	switch {
	case ticket.Seq > m.seq:
		want.State = queue.Unknown
	case ticket.Seq > m.served:
		want.State, want.Ahead = queue.Queued, m.ahead(ticket.Seq)
	case m.told[ticket.Seq] || got.State == queue.Decided:
		want.State, want.Verdict = queue.Decided, m.verdicts[ticket.Seq]
	default:
		want.State = queue.Gone
	}
	same(r, fmt.Sprintf("place of %d", ticket.Seq), got, want)
}

func (m *modelled) find(r *rapid.T) {
	buyer := someone.Draw(r, "buyer")
	got, err := m.b.Queue.Find(m.t.Context(), m.row.ID, buyer)
	ticket, known := m.newest[buyer]
	if !known {
		same(r, "not found", errors.Is(err, model.ErrNotFound), true)
		return
	}
	fine(r, err)
	m.holds(r, got, ticket)
}

// restart is a kill: SQL and the journal stay, and with them the marks of all who hold an order.
func (m *modelled) restart(r *rapid.T) {
	if rapid.IntRange(0, 3).Draw(r, "often enough") > 0 {
		r.Skip("not now")
	}
	m.b.Queue = m.b.Restart(m.t)
	m.install(r)
	m.told = map[int64]bool{}
	m.batches = nil
	if m.b.Durable {
		return
	}
	for buyer, ticket := range m.won {
		if _, marked := m.marks[buyer]; !marked {
			m.marks[buyer] = ticket
		}
	}
}
