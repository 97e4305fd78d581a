package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/api/sale"
	"seckill/api/ws"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

// shop is every call on a real store and a real queue, with buyers by header and a clock that only the test moves.
type shop struct {
	http.Handler
	desk  *sale.Desk
	store *store.Store
	queue queue.Queue
	now   *atomic.Int64 // Unix milliseconds
	ready map[string]error
}

func newShop(t testing.TB) *shop {
	return newShopOf(t, api.IdentityOptions{Mode: api.ModeHeader, Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
}

func newShopOf(t testing.TB, buyers api.IdentityOptions) *shop {
	t.Helper()
	ctx := context.Background()
	s := &shop{now: &atomic.Int64{}, ready: map[string]error{"sql": nil, "queue": nil}}
	s.now.Store(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	clock := func() time.Time { return time.UnixMilli(s.now.Load()) }
	db, err := store.Open(ctx, "sqlite://"+filepath.Join(t.TempDir(), "seckill.db"), store.Options{Now: clock})
	must(t, err)
	_, err = db.Migrate(ctx)
	must(t, err)
	s.mount(t, buyers, db, queue.NewLocal(db, model.NewClock(clock), queue.LocalOptions{}))
	return s
}

// mount puts every call on a database and a queue, which end with the test.
func (s *shop) mount(t testing.TB, buyers api.IdentityOptions, db *store.Store, q queue.Queue) {
	t.Cleanup(func() {
		if err := errors.Join(q.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	clock := func() time.Time { return time.UnixMilli(s.now.Load()) }
	log := slog.New(slog.DiscardHandler)
	desk := sale.New(sale.Options{Store: db, Queue: q, Log: log, Now: clock,
		MAC: model.NewTicketMAC([]byte("a secret of the test, long enough"))})
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	api.Mount(engine, api.Options{Desk: desk, Hub: ws.New(ws.Options{Desk: desk, Queue: q, Log: log, MaxSockets: 10}),
		Identity: api.NewIdentity(buyers), Auth: api.NewAuth(api.AuthOptions{Store: db, Token: adminToken}), Log: log,
		Ready:   func(context.Context) map[string]error { return s.ready },
		Metrics: http.NotFoundHandler()})
	s.Handler, s.desk, s.store, s.queue = engine, desk, db, q
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *shop) pass(d time.Duration) { s.now.Add(d.Milliseconds()) }

// answer is a response, with its JSON body if it has one.
type answer struct {
	*httptest.ResponseRecorder
	json map[string]any
}

// call sends a request; who is a buyer, or "admin" for the admin token, or empty for nobody.
func (s *shop) call(t testing.TB, who, method, path, body string, header ...string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	switch who {
	case "":
	case "admin":
		r.Header.Set("Authorization", "Bearer "+adminToken)
	default:
		r.Header.Set("X-Buyer-ID", who)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	a := answer{ResponseRecorder: httptest.NewRecorder()}
	s.ServeHTTP(a, r)
	if strings.Contains(a.Header().Get("Content-Type"), "json") {
		must(t, json.Unmarshal(a.Body.Bytes(), &a.json))
	}
	return a
}

func (a answer) code() string            { s, _ := a.json["code"].(string); return s }
func (a answer) text(name string) string { s, _ := a.json[name].(string); return s }

// want checks the status, and the code of a problem.
func (a answer) want(t testing.TB, status int, code string) {
	t.Helper()
	if a.Code != status || a.code() != code {
		t.Errorf("answered %d %q, want %d %q: %s", a.Code, a.code(), status, code, a.Body)
	}
}

// wantFields checks that exactly these fields are told to be wrong.
func (a answer) wantFields(t testing.TB, names ...string) {
	t.Helper()
	a.want(t, http.StatusUnprocessableEntity, "invalid")
	fields, _ := a.json["errors"].(map[string]any)
	for _, name := range names {
		if reason, _ := fields[name].(string); reason == "" {
			t.Errorf("field %q is not named: %s", name, a.Body)
		}
	}
	if len(fields) != len(names) {
		t.Errorf("named %v, want %q", fields, names)
	}
}

// lamp is an item that is open when it is published.
const lamp = `{"title":"Lamp","price":{"amount":1999,"currency":"CNY"},"stock":2,"per_buyer_limit":2,` +
	`"starts_at":"2026-05-01T20:00:00.0009+08:00","ends_at":"2026-05-01T13:00:00Z"}`

// publish puts an item on sale and returns its id.
func (s *shop) publish(t testing.TB, body string) string {
	t.Helper()
	a := s.call(t, "admin", "POST", "/api/v1/admin/items", body)
	a.want(t, http.StatusCreated, "")
	return a.text("id")
}

// sell decides and settles everything in line.
func (s *shop) sell(t testing.TB, id string) {
	t.Helper()
	ctx := context.Background()
	item, err := model.ParseID(id)
	must(t, err)
	b, err := s.queue.Peek(ctx, item, queue.MaxPeek)
	must(t, err)
	out, err := s.store.Decide(ctx, item, b.Epoch, b.Entries)
	must(t, err)
	must(t, s.queue.Settle(ctx, queue.Settlement{Batch: b, Verdicts: out.Verdicts, Item: out.Item}))
}
