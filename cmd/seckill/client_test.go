package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"testing"
	"time"
)

// client calls the program as one person: an admin, a buyer by header, or a guest by cookie. It follows no redirect.
type client struct {
	t      *testing.T
	base   string
	header http.Header
	http   *http.Client
}

// crowd is a transport for as many connections at once as there are callers. Idle ones are closed soon: a long test has
// many crowds.
func crowd(t *testing.T) *http.Transport {
	tr := &http.Transport{MaxIdleConnsPerHost: 4096, IdleConnTimeout: 2 * time.Second}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func (p *program) client(tr http.RoundTripper, header ...string) *client {
	if tr == nil {
		tr = crowd(p.t)
	}
	c := &client{t: p.t, base: p.url, header: http.Header{}, http: &http.Client{Transport: tr, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	for n := 0; n < len(header); n += 2 {
		c.header.Set(header[n], header[n+1])
	}
	return c
}

// admin calls with the admin token.
func (p *program) admin() *client { return p.client(nil, "Authorization", "Bearer "+adminToken) }

// buyer calls as the buyer with this id, over tr, which many buyers may share.
func (p *program) buyer(tr http.RoundTripper, id string) *client {
	return p.client(tr, "X-Buyer-ID", id)
}

// guest calls with a cookie jar of its own.
func (p *program) guest() *client {
	c := p.client(nil)
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	c.http.Jar = jar
	return c
}

// answer is one answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// problem is the error form of the contract.
type problem struct {
	Status    int               `json:"status"`
	Code      string            `json:"code"`
	Detail    string            `json:"detail"`
	RequestID string            `json:"request_id"`
	Errors    map[string]string `json:"errors"`
	Order     *order            `json:"order"`
}

type ticket struct {
	Ticket   string `json:"ticket"`
	ItemID   string `json:"item_id"`
	Epoch    int64  `json:"epoch"`
	Seq      int64  `json:"seq"`
	Quantity int    `json:"quantity"`
	Ahead    int64  `json:"ahead"`
	Status   string `json:"status"`
	Order    *order `json:"order"`
}

type order struct {
	No       string `json:"no"`
	ItemID   string `json:"item_id"`
	Quantity int    `json:"quantity"`
	Status   string `json:"status"`
	Amount   struct {
		Amount   int64  `json:"amount"`
		Currency string `json:"currency"`
	} `json:"amount"`
}

type item struct {
	ID        string  `json:"id"`
	Title     string  `json:"title"`
	Stock     int64   `json:"stock"`
	Available int64   `json:"available"`
	Phase     string  `json:"phase"`
	StartsAt  string  `json:"starts_at"`
	EndsAt    *string `json:"ends_at"`
	Version   int64   `json:"version"`
	Pending   int64   `json:"pending"`
	Queued    int64   `json:"queued"`
}

// try sends one request; a body that is not empty goes as contentType.
func (c *client) try(method, path, contentType, body string) (answer, error) {
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, bytes.NewBufferString(body))
	if err != nil {
		return answer{}, err
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if body != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return c.send(req)
}

// send sends a request that is ready and reads the whole answer.
func (c *client) send(req *http.Request) (answer, error) {
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, b}, err
}

// do is try that must get an answer.
func (c *client) do(method, path, contentType, body string) answer {
	c.t.Helper()
	a, err := c.try(method, path, contentType, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (c *client) get(path string) answer { c.t.Helper(); return c.do("GET", path, "", "") }

// json sends a JSON body.
func (c *client) json(method, path, body string) answer {
	c.t.Helper()
	return c.do(method, path, "application/json", body)
}

// form posts an HTML form.
func (c *client) form(path string, fields url.Values) answer {
	c.t.Helper()
	return c.do("POST", path, "application/x-www-form-urlencoded", fields.Encode())
}

// buy clicks for quantity units; 0 sends no body.
func (c *client) buy(itemID string, quantity int) answer {
	c.t.Helper()
	a, err := c.tryBuy(itemID, quantity)
	if err != nil {
		c.t.Fatalf("buy: %v", err)
	}
	return a
}

func (c *client) tryBuy(itemID string, quantity int) (answer, error) {
	body := ""
	if quantity != 0 {
		body = fmt.Sprintf(`{"quantity":%d}`, quantity)
	}
	return c.try("POST", "/api/v1/items/"+itemID+"/buy", "application/json", body)
}

// verdict asks for a ticket until it is decided.
func (c *client) verdict(publicTicket string, within time.Duration) ticket {
	c.t.Helper()
	t, err := c.await(publicTicket, within)
	if err != nil {
		c.t.Fatal(err)
	}
	return t
}

// await asks for a ticket until it is decided. Any goroutine may call it.
func (c *client) await(publicTicket string, within time.Duration) (t ticket, err error) {
	decided := ask(within, func() bool {
		var a answer
		a, err = c.try("GET", "/api/v1/tickets/"+publicTicket, "", "")
		if err != nil || a.status == http.StatusServiceUnavailable {
			return false
		}
		if a.status != http.StatusOK {
			err = fmt.Errorf("ticket %s: %d %.300s", publicTicket, a.status, a.body)
			return true
		}
		err = json.Unmarshal(a.body, &t)
		return t.Status != "queued"
	})
	if !decided {
		return t, fmt.Errorf("ticket %s is not decided after %s: status %q, %v", publicTicket, within, t.Status, err)
	}
	return t, err
}

// verdicts is the decided ticket of every accepted click, each asked for by its own buyer.
func (p *program) verdicts(log []click) []ticket {
	p.t.Helper()
	tr := crowd(p.t)
	const together = 16
	all, errs := make([]ticket, len(log)), make([]error, together)
	var askers sync.WaitGroup
	for first := range together {
		askers.Go(func() {
			for n := first; n < len(log) && errs[first] == nil; n += together {
				all[n], errs[first] = p.buyer(tr, log[n].buyer).await(log[n].ticket.Ticket, 20*time.Second)
			}
		})
	}
	askers.Wait()
	if err := errors.Join(errs...); err != nil {
		p.t.Fatal(err)
	}
	return all
}

// publish puts an item on sale that is open now and sells one unit to a buyer, but for fields.
func (c *client) publish(fields map[string]any) item {
	c.t.Helper()
	body := map[string]any{"title": "Kettle", "price": map[string]any{"amount": 1990, "currency": "CNY"}, "stock": 100}
	for name, value := range fields {
		body[name] = value
	}
	b, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	a := c.json("POST", "/api/v1/admin/items", string(b))
	a.want(c.t, http.StatusCreated)
	return decode[item](c.t, a)
}

// item is the item as admins see it.
func (c *client) item(id string) item {
	c.t.Helper()
	a := c.get("/api/v1/admin/items/" + id)
	a.want(c.t, http.StatusOK)
	return decode[item](c.t, a)
}

// act pauses, resumes or closes.
func (c *client) act(id, what string) {
	c.t.Helper()
	c.json("POST", "/api/v1/admin/items/"+id+"/"+what, "").want(c.t, http.StatusOK)
}

// want fails the test on another status.
func (a answer) want(t *testing.T, status int) {
	t.Helper()
	if a.status != status {
		t.Fatalf("status %d, want %d: %.600s", a.status, status, a.body)
	}
}

// wantCode fails the test on anything but a problem with this status and code.
func (a answer) wantCode(t *testing.T, status int, code string) problem {
	t.Helper()
	p := a.problem()
	if a.status != status || p.Code != code {
		t.Fatalf("status %d %q, want %d %q: %.600s", a.status, p.Code, status, code, a.body)
	}
	return p
}

// problem is the answer's problem; empty where the body is none.
func (a answer) problem() problem {
	var p problem
	_ = json.Unmarshal(a.body, &p) // no problem has no code
	return p
}

func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v: %.300s", err, a.body)
	}
	return v
}

// millis is the instant of the contract's form.
func millis(t *testing.T, s string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at.UnixMilli()
}
