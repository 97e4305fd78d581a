package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

func TestMain(m *testing.M) {
	queue.QuietRedis()
	goleak.VerifyTestMain(m)
}

// shop is a database and a queue as the program has them, with a clock that a test can set ahead.
type shop struct {
	t     testing.TB
	dsn   string
	store *store.Store
	queue *queue.Local
	ahead atomic.Int64
	log   *logBook
	// metrics is what the latest sellers count in.
	metrics *prometheus.Registry
}

func openShop(t testing.TB) *shop {
	return openShopOn(t, "sqlite://"+filepath.Join(t.TempDir(), "shop.db"))
}

// openShopOn is a shop on a database of the test's own.
func openShopOn(t testing.TB, dsn string) *shop {
	s := &shop{t: t, dsn: dsn, log: &logBook{}}
	s.open()
	return s
}

// open starts the database and an empty queue, as a new process would.
func (s *shop) open() {
	s.t.Helper()
	opened, err := store.Open(s.t.Context(), s.dsn, store.Options{Now: s.now})
	s.must(err)
	_, err = opened.Migrate(s.t.Context())
	s.must(err)
	s.store, s.queue = opened, queue.NewLocal(opened, model.NewClock(s.now), queue.LocalOptions{})
}

// close ends the database; in a bubble of fake time that has to be before the bubble's end.
func (s *shop) close() { s.must(s.store.Close()) }

// now is the time, thirty years on: the ids begin in 2024, and a bubble of fake time in 2000.
func (s *shop) now() time.Time {
	return time.Now().AddDate(30, 0, 0).Add(time.Duration(s.ahead.Load()))
}

func (s *shop) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// sellers makes sellers on q, with metrics and a log of their own.
func (s *shop) sellers(q queue.Queue) *Sellers {
	s.metrics = prometheus.NewRegistry()
	return New(Options{Store: s.store, Queue: q, Log: s.logger(), Metrics: s.metrics})
}

func (s *shop) logger() *slog.Logger { return slog.New(s.log) }

// create inserts an item that is open from now on; its queue is not installed.
func (s *shop) create(stock int64, change ...func(*model.Item)) model.Item {
	s.t.Helper()
	item := model.Item{Title: "Kettle", Price: model.Money{Amount: 100, Currency: "CNY"}, Stock: stock, Available: stock,
		PerBuyerLimit: 5, PayWithin: 900, StartsAt: model.InstantOf(s.now()), Version: 1, Epoch: 1}
	for _, c := range change {
		c(&item)
	}
	created, err := s.store.CreateItem(s.t.Context(), item)
	s.must(err)
	return created
}

func (s *shop) publish(stock int64) model.Item {
	s.t.Helper()
	item := s.create(stock)
	s.must(s.queue.Install(s.t.Context(), item))
	return item
}

// click joins one unit for a buyer.
func (s *shop) click(item model.Item, buyer string) model.Ticket {
	s.t.Helper()
	a, err := s.queue.Join(s.t.Context(), item.ID, queue.Click{Buyer: model.Buyer(buyer), Quantity: 1})
	s.must(err)
	return a.Ticket
}

// crowd joins n buyers, all at once, and returns how many tickets there are then; the others were told that it is sold
// out. A buyer who gets no answer, as on a busy machine, clicks again.
func (s *shop) crowd(item model.Item, n int) int {
	s.t.Helper()
	var wg sync.WaitGroup
	for b := range n {
		wg.Go(func() {
			click := queue.Click{Buyer: model.Buyer(fmt.Sprint("buyer", b)), Quantity: 1}
			_, err := s.queue.Join(s.t.Context(), item.ID, click)
			for errors.Is(err, model.ErrUnavailable) && s.t.Context().Err() == nil {
				_, err = s.queue.Join(s.t.Context(), item.ID, click)
			}
			if err != nil && !errors.Is(err, model.ErrSoldOut) {
				s.t.Error(err)
			}
		})
	}
	wg.Wait()
	return int(s.progress(item).Seq)
}

// run runs sellers until the function that it returns is called, which waits for them.
func (s *shop) run(sellers *Sellers) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan error, 1)
	go func() { done <- sellers.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	}
}

// told starts to listen, and returns a function that waits until n tickets have been told their verdicts.
func (s *shop) told() (wait func(n int)) {
	messages := s.queue.Subscribe(s.t.Context())
	return func(n int) {
		s.t.Helper()
		seen := map[int64]bool{}
		late := time.After(20 * time.Second)
		for len(seen) < n {
			select {
			case m := <-messages:
				for _, told := range m.Told {
					seen[told.Ticket.Seq] = true
				}
			case <-late:
				s.t.Fatalf("%d of %d tickets were told", len(seen), n)
			}
		}
	}
}

// decisions is the verdict of each number, by the decision rows. No number may be decided twice or out of order.
func (s *shop) decisions(item model.Item) []model.Verdict {
	s.t.Helper()
	var verdicts []model.Verdict
	s.must(s.store.LoadDecisions(s.t.Context(), item.ID, func(d model.Decision) error {
		for _, ticket := range d.Tickets {
			if ticket.Seq != int64(len(verdicts)+1) {
				s.t.Errorf("number %d was decided after number %d", ticket.Seq, len(verdicts))
			}
			verdicts = append(verdicts, ticket.Verdict)
		}
		return nil
	}))
	return verdicts
}

// orders is the numbers of the tickets that have an order.
func (s *shop) orders(item model.Item) map[int64]bool {
	s.t.Helper()
	seqs := map[int64]bool{}
	s.must(s.store.EachOrder(s.t.Context(), store.OrderFilter{Item: item.ID}, func(o model.Order) error {
		if seqs[o.Seq] {
			s.t.Errorf("number %d has two orders", o.Seq)
		}
		seqs[o.Seq] = true
		return nil
	}))
	return seqs
}

// progress is where the item's queue is.
func (s *shop) progress(item model.Item) queue.Progress {
	s.t.Helper()
	progress, err := s.queue.Progress(s.t.Context(), item.ID)
	s.must(err)
	return progress[0]
}

// mustBeDecided fails unless each of n numbers has one verdict, the first ones won with an order and the others sold
// out, nothing is left in line, and the units add up.
func (s *shop) mustBeDecided(item model.Item, n, winners int) {
	s.t.Helper()
	verdicts, orders := s.decisions(item), s.orders(item)
	if len(verdicts) != n || len(orders) != winners {
		s.t.Fatalf("%d verdicts and %d orders, want %d and %d", len(verdicts), len(orders), n, winners)
	}
	for i, v := range verdicts {
		want := model.SoldOut
		if i < winners {
			want = model.Won
		}
		if v != want || orders[int64(i+1)] != (want == model.Won) {
			s.t.Errorf("number %d: %v, with an order: %v; want %v", i+1, v, orders[int64(i+1)], want)
		}
	}
	row, err := s.store.Item(s.t.Context(), item.ID)
	s.must(err)
	p := s.progress(item)
	if left := item.Stock - int64(winners); row.Available != left || p.Available != left || p.Queued != 0 || p.Served != int64(n) {
		s.t.Errorf("available %d in SQL, %d in the mirror, want %d; queue %+v", row.Available, p.Available, left, p)
	}
}

// count is the sum of a metric of the latest sellers.
func (s *shop) count(name string) float64 {
	s.t.Helper()
	families, err := s.metrics.Gather()
	s.must(err)
	sum := 0.0
	for _, f := range families {
		for _, m := range f.Metric {
			if f.GetName() == name {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// logBook keeps the messages that were logged, with their attributes.
type logBook struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func (b *logBook) Enabled(context.Context, slog.Level) bool { return true }
func (b *logBook) WithAttrs([]slog.Attr) slog.Handler       { return b }

func (b *logBook) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, line)
	return nil
}

func (b *logBook) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.lines...)
}

// spy is a queue that counts the calls of sellers, and whose Settle can be made to fail.
type spy struct {
	queue.Queue
	peeks, sweeps atomic.Int64
	settle        func(context.Context, queue.Settlement) error
}

func (q *spy) Peek(ctx context.Context, item model.ID, most int) (queue.Batch, error) {
	q.peeks.Add(1)
	return q.Queue.Peek(ctx, item, most)
}

func (q *spy) Now(ctx context.Context) (model.Instant, error) {
	q.sweeps.Add(1)
	return q.Queue.Now(ctx)
}

func (q *spy) Settle(ctx context.Context, s queue.Settlement) error {
	if q.settle != nil {
		return q.settle(ctx, s)
	}
	return q.Queue.Settle(ctx, s)
}
