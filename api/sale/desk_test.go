package sale_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// errDown is what a part that is away answers.
var errDown = errors.New("connection refused")

// stand is a desk on a real store and a real queue, with a clock that only the test moves.
type stand struct {
	*sale.Desk
	store *store.Store
	queue *moody
	mac   model.TicketMAC
	now   *atomic.Int64 // Unix milliseconds
}

// moody is a queue whose answers a test may replace.
type moody struct {
	queue.Queue
	join   func(queue.Click) (queue.Answer, error)
	look   func(model.Ticket) (queue.Place, error)
	find   func() (queue.Place, error)
	mirror error
	unmark func(model.Ticket)
}

func (m *moody) Join(ctx context.Context, item model.ID, c queue.Click) (queue.Answer, error) {
	if m.join != nil {
		return m.join(c)
	}
	return m.Queue.Join(ctx, item, c)
}

func (m *moody) Look(ctx context.Context, t model.Ticket) (queue.Place, error) {
	if m.look != nil {
		return m.look(t)
	}
	return m.Queue.Look(ctx, t)
}

func (m *moody) Find(ctx context.Context, item model.ID, b model.Buyer) (queue.Place, error) {
	if m.find != nil {
		return m.find()
	}
	return m.Queue.Find(ctx, item, b)
}

func (m *moody) Mirror(ctx context.Context, items ...model.Item) error {
	if m.mirror != nil {
		return m.mirror
	}
	return m.Queue.Mirror(ctx, items...)
}

func (m *moody) Unmark(ctx context.Context, t model.Ticket) error {
	if m.unmark != nil {
		m.unmark(t)
		return nil
	}
	return m.Queue.Unmark(ctx, t)
}

func newStand(t testing.TB) *stand {
	t.Helper()
	ctx := context.Background()
	now := &atomic.Int64{}
	now.Store(time.Now().UnixMilli())
	clock := func() time.Time { return time.UnixMilli(now.Load()) }
	db, err := store.Open(ctx, "sqlite://"+filepath.Join(t.TempDir(), "seckill.db"), store.Options{Now: clock})
	must(t, err)
	_, err = db.Migrate(ctx)
	must(t, err)
	q := &moody{Queue: queue.NewLocal(db, model.NewClock(clock), queue.LocalOptions{})}
	t.Cleanup(func() {
		if err := errors.Join(q.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	mac := model.NewTicketMAC([]byte("a secret of the test, long enough"))
	desk := sale.New(sale.Options{Store: db, Queue: q, MAC: mac, Log: slog.New(slog.DiscardHandler), Now: clock})
	return &stand{Desk: desk, store: db, queue: q, mac: mac, now: now}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *stand) at() model.Instant { return model.Instant(s.now.Load()) }

func (s *stand) pass(d time.Duration) { s.now.Add(d.Milliseconds()) }

// draft is an item that opens in an hour and ends an hour later.
func (s *stand) draft(stock int64) model.Draft {
	starts, ends := s.at().Add(time.Hour), s.at().Add(2*time.Hour)
	return model.Draft{Title: ptr("Lamp"), Amount: ptr(int64(1999)), Currency: ptr("CNY"), Stock: &stock,
		PerBuyerLimit: ptr(int64(2)), StartsAt: &starts, EndsAt: &ends}
}

func ptr[T any](v T) *T { return &v }

// publish puts an item on sale that opens in an hour.
func (s *stand) publish(t testing.TB, stock int64) model.ID {
	t.Helper()
	item, err := s.Publish(context.Background(), s.draft(stock))
	must(t, err)
	return item.ID
}

// open puts an item on sale that is open.
func (s *stand) open(t testing.TB, stock int64) model.ID {
	t.Helper()
	id := s.publish(t, stock)
	s.pass(time.Hour)
	return id
}

// sell decides and settles everything in line.
func (s *stand) sell(t testing.TB, item model.ID) {
	t.Helper()
	s.settle(t, s.decide(t, item))
}

// decide decides everything in line in SQL, and leaves the queue untold.
func (s *stand) decide(t testing.TB, item model.ID) queue.Settlement {
	t.Helper()
	ctx := context.Background()
	b, err := s.queue.Peek(ctx, item, queue.MaxPeek)
	must(t, err)
	out, err := s.store.Decide(ctx, item, b.Epoch, b.Entries)
	must(t, err)
	return queue.Settlement{Batch: b, Verdicts: out.Verdicts, Item: out.Item}
}

func (s *stand) settle(t testing.TB, st queue.Settlement) {
	t.Helper()
	must(t, s.queue.Settle(context.Background(), st))
}

// buy is a click that is let in line.
func (s *stand) buy(t testing.TB, item model.ID, buyer model.Buyer) sale.TicketView {
	t.Helper()
	v, err := s.Buy(context.Background(), item, buyer, 1)
	must(t, err)
	return v
}

// raw is the ticket behind a view.
func (s *stand) raw(t testing.TB, v sale.TicketView, buyer model.Buyer) model.Ticket {
	t.Helper()
	ticket, err := s.mac.Parse(v.Ticket, buyer)
	must(t, err)
	return ticket
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// again is another desk on the same store, in front of q.
func (s *stand) again(q queue.Queue) *sale.Desk {
	return sale.New(sale.Options{Store: s.store, Queue: q, MAC: s.mac, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return s.at().Time() }})
}
