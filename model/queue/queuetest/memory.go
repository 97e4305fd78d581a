package queuetest

import (
	"context"
	"errors"
	"sync"

	"seckill/model"
	"seckill/model/queue"
)

// Memory stands for SQL where none is wanted: a judge, a journal that decisions delete from, and the epochs.
type Memory struct {
	mu    sync.Mutex
	items map[model.ID]*record
}

// record is one item of Memory.
type record struct {
	item      model.Item
	groups    []model.EntryGroup
	orders    []model.Order
	decisions []model.Decision
}

var (
	_ Judge         = (*Memory)(nil)
	_ queue.Journal = (*Memory)(nil)
	_ queue.Epochs  = (*Memory)(nil)
)

// NewMemory is an empty one.
func NewMemory() *Memory { return &Memory{items: map[model.ID]*record{}} }

// Create implements Judge.
func (m *Memory) Create(_ context.Context, item model.Item) (model.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	item.ID = model.ID(len(m.items) + 1)
	m.items[item.ID] = &record{item: item}
	return item, nil
}

// Decide implements Judge, by model.Case.
func (m *Memory) Decide(_ context.Context, id model.ID, epoch int64, entries []model.Entry) ([]model.Verdict, model.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.items[id]
	if r.item.Epoch != epoch {
		return nil, model.Item{}, errors.New("another epoch")
	}
	verdicts, fresh := r.judged().Judge(entries)
	before := r.item.Available
	decision := model.Decision{Item: id, Epoch: epoch}
	for n, e := range entries {
		if !fresh[n] {
			continue
		}
		decided := model.Decided{Seq: e.Seq, Verdict: verdicts[n], Quantity: e.Quantity}
		if e.Err == nil {
			decided.Buyer = e.Buyer.Hash()
		}
		decision.Tickets = append(decision.Tickets, decided)
		r.item.Decided = max(r.item.Decided, e.Seq)
		if verdicts[n] == model.Won {
			r.item.Available -= int64(e.Quantity)
			r.orders = append(r.orders, model.Order{Item: id, Buyer: e.Buyer, Quantity: e.Quantity, Epoch: e.Epoch, Seq: e.Seq,
				Status: model.OrderPending})
		}
	}
	if len(decision.Tickets) > 0 {
		r.decisions = append(r.decisions, decision)
	}
	if r.item.Available != before {
		r.item.Version++
	}
	r.dropDecided()
	return verdicts, r.item, nil
}

func (r *record) judged() model.Case {
	c := model.Case{Item: r.item, Orders: map[int64]model.Order{}, Decided: map[int64]model.Verdict{}, Live: map[model.Buyer]bool{}}
	for _, o := range r.orders {
		c.Orders[o.Seq] = o
		c.Live[o.Buyer] = true
	}
	for _, d := range r.decisions {
		for _, t := range d.Tickets {
			c.Decided[t.Seq] = t.Verdict
		}
	}
	return c
}

// dropDecided deletes the groups that are decided whole.
func (r *record) dropDecided() {
	var kept []model.EntryGroup
	for _, g := range r.groups {
		if g.From+int64(len(g.Lines))-1 > r.item.Decided {
			kept = append(kept, g)
		}
	}
	r.groups = kept
}

// Item implements queue.Epochs.
func (m *Memory) Item(_ context.Context, id model.ID) (model.Item, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.items[id]
	if !ok {
		return model.Item{}, model.ErrNotFound
	}
	return r.item, nil
}

// NextEpoch implements queue.Epochs.
func (m *Memory) NextEpoch(_ context.Context, id model.ID, from int64) (model.Item, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.items[id]
	if !ok {
		return model.Item{}, false, model.ErrNotFound
	}
	if r.item.Epoch != from {
		return r.item, false, nil
	}
	r.item.Epoch++
	return r.item, true, nil
}

// AppendJournal implements queue.Journal.
func (m *Memory) AppendJournal(_ context.Context, item model.ID, from int64, entries [][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	group := model.EntryGroup{From: from}
	for _, line := range entries {
		group.Lines = append(group.Lines, append([]byte(nil), line...))
	}
	r := m.items[item]
	for _, g := range r.groups {
		if g.From == from {
			return errors.New("a group from this number is there")
		}
	}
	r.groups = append(r.groups, group)
	return nil
}

// LoadJournal implements queue.Journal.
func (m *Memory) LoadJournal(_ context.Context, item model.ID) ([]model.EntryGroup, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]model.EntryGroup(nil), m.items[item].groups...), nil
}

// LoadHolders implements queue.Journal.
func (m *Memory) LoadHolders(_ context.Context, item model.ID) ([]model.Order, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]model.Order(nil), m.items[item].orders...), nil
}

// LoadDecisions implements queue.Journal.
func (m *Memory) LoadDecisions(_ context.Context, item model.ID, each func(model.Decision) error) error {
	m.mu.Lock()
	decisions := append([]model.Decision(nil), m.items[item].decisions...)
	m.mu.Unlock()
	for _, d := range decisions {
		if err := each(d); err != nil {
			return err
		}
	}
	return nil
}
