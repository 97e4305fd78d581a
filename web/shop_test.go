package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"seckill/api"
	"seckill/api/sale"
	"seckill/api/ws"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
	"seckill/web"
)

const password = "correct horse"

// shop is pages, API, queue and database as the program has them; a test sells by hand.
type shop struct {
	t     *testing.T
	url   string
	desk  *sale.Desk
	store *store.Store
	queue queue.Queue
}

func newShop(t *testing.T, mode string) *shop {
	t.Helper()
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	db, err := store.Open(ctx, "sqlite://"+filepath.Join(t.TempDir(), "seckill.db"), store.Options{})
	must(t, err)
	_, err = db.Migrate(ctx)
	must(t, err)
	hash, err := api.HashPassword(password)
	must(t, err)
	_, err = db.CreateUser(ctx, store.User{Name: "admin", Hash: hash, Role: store.RoleAdmin})
	must(t, err)
	q := queue.NewLocal(db, model.NewClock(time.Now), queue.LocalOptions{})
	secrets := [][]byte{[]byte("a secret of the test, long enough")}
	desk := sale.New(sale.Options{Store: db, Queue: q, MAC: model.NewTicketMAC(secrets...), Log: log})
	server := httptest.NewUnstartedServer(nil)
	base := "http://" + server.Listener.Addr().String()
	server.Config.Handler, err = web.New(web.Options{BaseURL: base, API: api.Options{Desk: desk, Log: log,
		Hub: ws.New(ws.Options{Desk: desk, Queue: q, Log: log, MaxSockets: 10, BaseURL: base}),
		Identity: api.NewIdentity(api.IdentityOptions{Mode: mode, Secrets: secrets,
			Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
		Auth:    api.NewAuth(api.AuthOptions{Store: db}),
		Ready:   func(context.Context) map[string]error { return nil },
		Metrics: http.NotFoundHandler()}})
	must(t, err)
	server.Start()
	t.Cleanup(func() {
		server.Close()
		if err := errors.Join(q.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return &shop{t: t, url: base, desk: desk, store: db, queue: q}
}

// sell decides and settles everything in line.
func (s *shop) sell(item model.ID) {
	s.t.Helper()
	ctx := context.Background()
	batch, err := s.queue.Peek(ctx, item, queue.MaxPeek)
	must(s.t, err)
	out, err := s.store.Decide(ctx, item, batch.Epoch, batch.Entries)
	must(s.t, err)
	must(s.t, s.queue.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: out.Verdicts, Item: out.Item}))
}

// item puts one on sale that is open.
func (s *shop) item(title string, stock int64) sale.AdminItemView {
	s.t.Helper()
	amount, code, limit := int64(1990), "CNY", int64(2)
	item, err := s.desk.Publish(context.Background(),
		model.Draft{Title: &title, Amount: &amount, Currency: &code, Stock: &stock, PerBuyerLimit: &limit})
	must(s.t, err)
	return item
}

// reader is a browser: it keeps its cookies, and shows redirects as they are.
type reader struct {
	*http.Client
	shop *shop
}

func (s *shop) reader() *reader {
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	return &reader{shop: s, Client: &http.Client{Jar: jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// admin is a reader who is logged in.
func (s *shop) admin() *reader {
	s.t.Helper()
	r := s.reader()
	if a := r.post("/login", url.Values{"name": {"admin"}, "password": {password}}); a.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("login: %d", a.StatusCode)
	}
	return r
}

// answer is one with its body read.
type answer struct {
	*http.Response
	body string
}

func (r *reader) get(path string) answer {
	r.shop.t.Helper()
	return r.send(http.MethodGet, path, nil, nil)
}

func (r *reader) post(path string, form url.Values) answer {
	r.shop.t.Helper()
	return r.send(http.MethodPost, path, form, nil)
}

func (r *reader) send(method, path string, form url.Values, headers map[string]string) answer {
	t := r.shop.t
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.shop.url+path, strings.NewReader(form.Encode()))
	must(t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	resp, err := r.Do(req)
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	must(t, resp.Body.Close())
	return answer{resp, string(body)}
}

// want fails the test unless the answer has this status and all of these texts.
func (a answer) want(t *testing.T, status int, texts ...string) answer {
	t.Helper()
	if a.StatusCode != status {
		t.Fatalf("%s %s: status %d, want %d\n%s", a.Request.Method, a.Request.URL.Path, a.StatusCode, status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%s %s: no %q in\n%s", a.Request.Method, a.Request.URL.Path, text, a.body)
		}
	}
	return a
}

// attr is an attribute of the element with id sale.
func (a answer) attr(t *testing.T, name string) string {
	t.Helper()
	m := regexp.MustCompile(`(?s)id="sale".*?\sdata-` + name + `="([^"]*)"`).FindStringSubmatch(a.body)
	if m == nil {
		t.Fatalf("no data-%s in %s", name, a.body)
	}
	return m[1]
}

func (a answer) code(t *testing.T) string {
	t.Helper()
	var problem struct{ Code string }
	must(t, json.Unmarshal([]byte(a.body), &problem))
	return problem.Code
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
