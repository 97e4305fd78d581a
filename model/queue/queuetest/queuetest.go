// Package queuetest is the conformance suite of the queue: every promise of queue.Queue that a queue can show by itself,
// for every backend to pass. It never looks inside a backend; what a test has to do behind the queue's back, a
// [Backend] offers.
package queuetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
)

// Options of a backend under test.
type Options struct {
	Limit int // undecided tickets an item; 0: the backend's default
}

// New makes a backend with no items, for one test. It cleans up after itself with t.Cleanup.
type New func(t *testing.T, opt Options) *Backend

// Backend is a queue under test.
type Backend struct {
	Queue queue.Queue
	Judge Judge
	// SetNow sets the gate's clock, and has the queue forget what it remembers for a moment. It never goes back.
	SetNow func(model.Instant)
	// Plant puts raw lines behind the item's last number, from the number from on, behind the queue's back. The queue
	// may show them only after Restart and Install.
	Plant func(t *testing.T, item model.ID, from int64, lines ...[]byte)
	// Restart is a queue on the same data, as after the process was killed. Nothing is installed.
	Restart func(t *testing.T) queue.Queue
	// NextEpoch puts the item of the row under the epoch after the row's, as after a fault of q's own, and returns the row
	// of that epoch. Nil: installing a row of that epoch does it.
	NextEpoch func(t *testing.T, q queue.Queue, row model.Item) model.Item
	// Durable: a restart finds the marks as they were. Else it marks all who hold an order anew.
	Durable bool
	// Faults breaks the inserts of groups; nil for a backend that has no journal.
	Faults *Faults
}

// Judge stands for SQL: it has the items, and what is decided.
type Judge interface {
	// Create keeps an item under a new id, with its stock available.
	Create(ctx context.Context, item model.Item) (model.Item, error)
	// Decide judges a batch of the item's entries, as store.Store.Decide does, and returns the row after it.
	Decide(ctx context.Context, item model.ID, epoch int64, entries []model.Entry) ([]model.Verdict, model.Item, error)
}

// Run runs every case against fresh backends.
func Run(t *testing.T, fresh New) {
	for name, c := range map[string]struct {
		opt Options
		run func(*testing.T, *Backend)
	}{
		"numbers rise in the order of the calls":             {run: numbersRise},
		"a buyer has one ticket, however often they ask":     {run: oneTicket},
		"a queued buyer's first quantity stays":              {run: firstQuantity},
		"the gate obeys the clock and the row":               {run: gateRules},
		"a refused click leaves no mark":                     {run: noMark},
		"a full queue refuses":                               {opt: Options{Limit: 3}, run: queueFull},
		"ahead counts the undecided tickets before":          {run: ahead},
		"a click that hangs up harms nobody":                 {run: hangUp},
		"an item that is not installed is missing":           {run: missing},
		"settle takes the batch and frees the losers":        {run: settleFrees},
		"settle again brings only the mirror up to date":     {run: settleAgain},
		"settle in another epoch is refused":                 {run: settleEpoch},
		"unmark takes only this ticket, once decided":        {run: unmark},
		"the mirror takes the whole row, never an older one": {run: mirror},
		"look tells every state":                             {run: look},
		"find tells the undecided ticket, else the newest":   {run: find},
		"peek shows no more than was asked for":              {run: peekBounds},
		"progress is in the order asked for":                 {run: progress},
		"the first ticket of an empty queue wakes":           {run: woken},
		"verdicts are told":                                  {run: settledIsTold},
		"changes of the gate are told":                       {run: changedIsTold},
		"a slow subscriber hears that it missed something":   {run: slowSubscriber},
		"a subscription ends with its context":               {run: subscriptionEnds},
		"install keeps what is undecided":                    {run: restartKeeps},
		"install never gives a number again":                 {run: numbersGoOn},
		"install under the next epoch keeps the queue":       {run: nextEpoch},
		"install knows who has won and who has lost":         {run: installRemembers},
		"lines that can not be read come in their turn":      {run: poison},
		"remove forgets the item":                            {run: remove},
		"a worker that beats lives":                          {run: beats},
		"close refuses":                                      {run: closeRefuses},
		"an insert that failed leaves nothing":               {run: failBefore},
		"an insert that only seemed to fail is kept":         {run: failAfter},
		"in doubt the item stands still until it can read":   {run: doubt},
		"an insert that is kept late is found":               {run: lateKeep},
		"a kill in the middle of clicks loses no answer":     {run: killInFlight},
		"random acts do as a small model does":               {run: randomActs},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, fresh(t, c.opt))
		})
	}
}

// start is when the fixtures' sale is.
const start = model.Instant(1_900_000_000_000)

// item is an installed item on open sale, after change.
func (b *Backend) item(t *testing.T, change ...func(*model.Item)) model.Item {
	t.Helper()
	b.SetNow(start)
	item := b.create(t, change...)
	if err := b.Queue.Install(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	return item
}

func (b *Backend) create(t *testing.T, change ...func(*model.Item)) model.Item {
	t.Helper()
	item := model.Item{Title: "Tea", Price: model.Money{Amount: 100, Currency: "CNY"}, Stock: 100, Available: 100,
		PerBuyerLimit: 5, PayWithin: model.DefaultPayWithin, StartsAt: start, Epoch: 1, Version: 1, CreatedAt: start, UpdatedAt: start}
	for _, f := range change {
		f(&item)
	}
	item, err := b.Judge.Create(t.Context(), item)
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func stock(n int64) func(*model.Item) {
	return func(i *model.Item) { i.Stock, i.Available = n, n }
}

// changed is the row after a change of its gate.
func changed(item model.Item, change func(*model.Item)) model.Item {
	item.Version++
	change(&item)
	return item
}

func (b *Backend) mirror(t *testing.T, item model.Item) {
	t.Helper()
	if err := b.Queue.Mirror(t.Context(), item); err != nil {
		t.Fatal(err)
	}
}

// join is a click for one unit that gets a ticket.
func (b *Backend) join(t *testing.T, item model.ID, buyer model.Buyer) queue.Answer {
	t.Helper()
	a, err := b.Queue.Join(t.Context(), item, queue.Click{Buyer: buyer, Quantity: 1})
	if err != nil {
		t.Fatalf("%s: %v", buyer, err)
	}
	return a
}

// joinAll is one click after the other.
func (b *Backend) joinAll(t *testing.T, item model.ID, buyers ...model.Buyer) {
	t.Helper()
	for _, buyer := range buyers {
		b.join(t, item, buyer)
	}
}

func (b *Backend) refused(t *testing.T, item model.ID, buyer model.Buyer, want error) {
	t.Helper()
	if _, err := b.Queue.Join(t.Context(), item, queue.Click{Buyer: buyer, Quantity: 1}); !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", buyer, err, want)
	}
}

func (b *Backend) peek(t *testing.T, item model.ID, most int) queue.Batch {
	t.Helper()
	batch, err := b.Queue.Peek(t.Context(), item, most)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}

func (b *Backend) settle(t *testing.T, batch queue.Batch, row model.Item, verdicts ...model.Verdict) {
	t.Helper()
	if err := b.Queue.Settle(t.Context(), queue.Settlement{Batch: batch, Verdicts: verdicts, Item: row}); err != nil {
		t.Fatal(err)
	}
}

// decide has the judge decide the oldest entries, and settles them. It returns their verdicts and the row.
func (b *Backend) decide(t *testing.T, item model.ID, most int) ([]model.Verdict, model.Item) {
	t.Helper()
	batch := b.peek(t, item, most)
	verdicts, row, err := b.Judge.Decide(t.Context(), item, batch.Epoch, batch.Entries)
	if err != nil {
		t.Fatal(err)
	}
	b.settle(t, batch, row, verdicts...)
	return verdicts, row
}

func (b *Backend) look(t *testing.T, ticket model.Ticket) queue.Place {
	t.Helper()
	p, err := b.Queue.Look(t.Context(), ticket)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *Backend) find(t *testing.T, item model.ID, buyer model.Buyer) queue.Place {
	t.Helper()
	p, err := b.Queue.Find(t.Context(), item, buyer)
	if err != nil {
		t.Fatalf("%s: %v", buyer, err)
	}
	return p
}

func (b *Backend) notFound(t *testing.T, item model.ID, buyer model.Buyer) {
	t.Helper()
	if p, err := b.Queue.Find(t.Context(), item, buyer); !errors.Is(err, model.ErrNotFound) {
		t.Fatalf("%s: %+v, %v; want not found", buyer, p, err)
	}
}

func (b *Backend) progress(t *testing.T, item model.ID) queue.Progress {
	t.Helper()
	p, err := b.Queue.Progress(t.Context(), item)
	if err != nil || len(p) != 1 {
		t.Fatal(p, err)
	}
	return p[0]
}

// restart has the backend come back with the item installed by its row.
func (b *Backend) restart(t *testing.T, row model.Item) {
	t.Helper()
	b.Queue = b.Restart(t)
	if err := b.Queue.Install(t.Context(), row); err != nil {
		t.Fatal(err)
	}
}

// patience is how long a message may take.
const patience = 10 * time.Second

// nextEpoch puts the row's item under its next epoch, and returns the row of that.
func (b *Backend) nextEpoch(t *testing.T, row model.Item) model.Item {
	t.Helper()
	if b.NextEpoch != nil {
		return b.NextEpoch(t, b.Queue, row)
	}
	row.Epoch++
	if err := b.Queue.Install(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	return row
}

// next is the next message.
func next(t *testing.T, messages <-chan queue.Message) queue.Message {
	t.Helper()
	m, open := receive(t, messages)
	if !open {
		t.Fatal("the subscription is over")
	}
	return m
}

func receive(t *testing.T, messages <-chan queue.Message) (m queue.Message, open bool) {
	t.Helper()
	select {
	case m, open = <-messages:
	case <-time.After(patience):
		t.Fatal("no message")
	}
	return m, open
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}
