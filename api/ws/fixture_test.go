package ws

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

func TestMain(m *testing.M) {
	queue.QuietRedis()
	goleak.VerifyTestMain(m)
}

// soon is when a test gives up waiting.
const soon = 30 * time.Second

// shop is a hub on the real store, queue and desk. Nobody sells but the test.
type shop struct {
	t     testing.TB
	store *store.Store
	queue queue.Queue
	desk  *sale.Desk
	hub   *Hub
	item  model.Item
	url   string
	ahead atomic.Int64 // of the gate's clock, in milliseconds
	stop  context.CancelFunc
	ended chan struct{} // closed when the hub's Run has returned
}

// setup is what a test may want otherwise.
type setup struct {
	item  func(*model.Item)
	queue func(queue.Queue) queue.Queue  // what the hub sees of the queue
	open  func(*store.Store) queue.Queue // the queue; nil: a local one
	found func()                         // runs each time the desk has found a buyer's ticket
	most  int
	base  string
}

func openShop(t testing.TB, with setup) *shop {
	t.Helper()
	ctx := context.Background()
	s := &shop{t: t, ended: make(chan struct{})}
	var err error
	s.store, err = store.Open(ctx, "sqlite://"+filepath.Join(t.TempDir(), "shop.db"), store.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, s.store.Close()) })
	_, err = s.store.Migrate(ctx)
	must(t, err)
	if with.open == nil {
		clock := model.NewClock(func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load()) * time.Millisecond) })
		s.queue = queue.NewLocal(s.store, clock, queue.LocalOptions{})
	} else {
		s.queue = with.open(s.store)
	}
	t.Cleanup(func() { must(t, s.queue.Close()) })

	item := model.Item{Title: "Tea", Price: model.Money{Amount: 1234, Currency: "CNY"}, Stock: 1_000_000, PerBuyerLimit: 2,
		PayWithin: 900, StartsAt: 1, Version: 1, Epoch: 1, CreatedAt: 1, UpdatedAt: 1}
	if with.item != nil {
		with.item(&item)
	}
	item.Available = item.Stock
	s.item, err = s.store.CreateItem(ctx, item)
	must(t, err)
	must(t, s.queue.Install(ctx, s.item))

	log := slog.New(slog.DiscardHandler)
	s.desk = sale.New(sale.Options{Store: s.store, Queue: hooked{s.queue, with.found}, MAC: model.NewTicketMAC([]byte("a secret of a test")), Log: log})
	seen := s.queue
	if with.queue != nil {
		seen = with.queue(s.queue)
	}
	if with.most == 0 {
		with.most = 100_000
	}
	s.hub = New(Options{Desk: s.desk, Queue: seen, Log: log, MaxSockets: with.most, BaseURL: with.base})
	s.open()
	return s
}

// open starts the server and the hub, and waits until it takes sockets.
func (s *shop) open() {
	server := httptest.NewServer(http.HandlerFunc(s.serve))
	s.t.Cleanup(server.Close)
	s.url = "ws" + strings.TrimPrefix(server.URL, "http")
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		defer close(s.ended)
		_ = s.hub.Run(ctx)
	}()
	s.t.Cleanup(func() {
		stop()
		<-s.ended
	})
	eventually(s.t, "hub runs", func() bool {
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		return s.hub.running
	})
}

// serve answers with the code of a refusal as the body.
func (s *shop) serve(w http.ResponseWriter, r *http.Request) {
	err := s.hub.Serve(w, r, s.item.ID, model.Buyer(r.Header.Get("Buyer")))
	var refusal *model.Error
	if errors.As(err, &refusal) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(refusal.Code))
	}
}

// dial opens a socket with these headers, as name, value, name, value.
func (s *shop) dial(headers ...string) (*websocket.Conn, *http.Response, error) {
	h := http.Header{}
	for n := 0; n < len(headers); n += 2 {
		h.Add(headers[n], headers[n+1])
	}
	dialer := websocket.Dialer{ReadBufferSize: 1024, WriteBufferSize: 256, HandshakeTimeout: soon}
	return dialer.Dial(s.url, h)
}

// page is an open page of a buyer, whose state has come.
type page struct {
	t     testing.TB
	conn  *websocket.Conn
	state event
}

// event is any frame.
type event struct {
	Type       string
	Item       *sale.ItemView
	Ticket     *seenTicket
	Order      *struct{ No string }
	Epoch      int64
	Served     int64
	Queued     int64
	Available  int64
	ItemID     string `json:"item_id"`
	ServerTime string `json:"server_time"`
	raw        string
}

type seenTicket struct {
	Ticket string
	Seq    int64
	Status string
	Order  *struct{ No string }
}

func (s *shop) page(buyer string) *page {
	s.t.Helper()
	conn, _, err := s.dial("Buyer", buyer)
	must(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	p := &page{t: s.t, conn: conn}
	p.state = p.next()
	if p.state.Type != "state" {
		s.t.Fatalf("first frame %s, want state", p.state.raw)
	}
	return p
}

// next is the next frame.
func (p *page) next() event {
	p.t.Helper()
	e, err := p.read(soon)
	must(p.t, err)
	return e
}

func (p *page) read(within time.Duration) (event, error) {
	if err := p.conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return event{}, err
	}
	_, b, err := p.conn.ReadMessage()
	if err != nil {
		return event{}, err
	}
	e := event{raw: string(b)}
	var v struct {
		Item json.RawMessage
		*event
	}
	v.event = &e
	err = json.Unmarshal(b, &v)
	if err == nil && len(v.Item) > 0 {
		err = unmarshalItem(v.Item, &e)
	}
	return e, err
}

// unmarshalItem reads what tests look at of an item.
func unmarshalItem(b []byte, e *event) error {
	var i struct {
		ID               string
		Phase            model.Phase
		Stock, Available int64
		Title            string
	}
	if err := json.Unmarshal(b, &i); err != nil {
		return err
	}
	id, err := model.ParseID(i.ID)
	e.Item = &sale.ItemView{ID: id, Phase: i.Phase, Stock: i.Stock, Available: i.Available, Title: i.Title}
	return err
}

// until reads on to the first frame that is meant.
func (p *page) until(what string, meant func(event) bool) event {
	p.t.Helper()
	deadline := time.Now().Add(soon)
	for {
		e, err := p.read(time.Until(deadline))
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", what, err)
		}
		if meant(e) {
			return e
		}
	}
}

func (p *page) verdict() seenTicket {
	p.t.Helper()
	return *p.until("verdict", isVerdict).Ticket
}

func isVerdict(e event) bool { return e.Type == "verdict" }

// expect reads the next frame, which has to contain a text.
func (p *page) expect(text string) error {
	if err := p.conn.SetReadDeadline(time.Now().Add(soon)); err != nil {
		return err
	}
	_, b, err := p.conn.ReadMessage()
	if err == nil && !bytes.Contains(b, []byte(text)) {
		err = fmt.Errorf("%.100s lacks %s", b, text)
	}
	return err
}

// closeCode reads on to the end of the connection.
func (p *page) closeCode() int {
	p.t.Helper()
	for {
		_, err := p.read(soon)
		if err == nil {
			continue
		}
		var closed *websocket.CloseError
		if !errors.As(err, &closed) {
			p.t.Fatalf("connection ended without a close: %v", err)
		}
		return closed.Code
	}
}

// buy is a click.
func (s *shop) buy(buyer string) sale.TicketView {
	s.t.Helper()
	view, err := s.desk.Buy(context.Background(), s.item.ID, model.Buyer(buyer), 1)
	must(s.t, err)
	return view
}

// sell decides and settles all that is queued, in batches of at most most.
func (s *shop) sell(most int) {
	s.t.Helper()
	ctx := context.Background()
	for {
		batch, err := s.queue.Peek(ctx, s.item.ID, most)
		must(s.t, err)
		if len(batch.Entries) == 0 {
			return
		}
		out, err := s.store.Decide(ctx, s.item.ID, batch.Epoch, batch.Entries)
		must(s.t, err)
		must(s.t, s.queue.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: out.Verdicts, Item: out.Item}))
	}
}

// eventually polls; for what has no event to wait for.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(soon)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// filtered is a queue of whose messages a hub hears only those that pass.
type filtered struct {
	queue.Queue
	pass func(queue.Message) bool
}

func (f filtered) Subscribe(ctx context.Context) <-chan queue.Message {
	out := make(chan queue.Message)
	go func() {
		defer close(out)
		for m := range f.Queue.Subscribe(ctx) {
			if !f.pass(m) {
				continue
			}
			select {
			case out <- m:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// blind is a queue whose buyers can not be looked up: a verdict that comes all the same was heard.
type blind struct{ queue.Queue }

func (blind) Find(context.Context, model.ID, model.Buyer) (queue.Place, error) {
	return queue.Place{}, model.ErrUnavailable
}

// hooked is a queue that runs found at the end of each Find.
type hooked struct {
	queue.Queue
	found func()
}

func (h hooked) Find(ctx context.Context, item model.ID, buyer model.Buyer) (queue.Place, error) {
	place, err := h.Queue.Find(ctx, item, buyer)
	if h.found != nil {
		h.found()
	}
	return place, err
}

// unread is the raw connection of a handshake after which nothing is read.
func (s *shop) unread(buyer string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "ws://"))
	must(s.t, err)
	s.t.Cleanup(func() { conn.Close() })
	must(s.t, conn.(*net.TCPConn).SetReadBuffer(4096))
	_, err = conn.Write([]byte("GET / HTTP/1.1\r\nHost: shop\r\nBuyer: " + buyer + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"))
	must(s.t, err)
	return conn
}
