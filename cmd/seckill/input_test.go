package main_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// wall is a program with an item that is open, a buyer with an order, and every row as it is before the wrong input.
type wall struct {
	*program
	admin, buyer *client
	item         item
	later        item // one that has not started
	order        order
	ticket       ticket
	before       map[string]string
}

func newWall(t *testing.T) *wall {
	t.Helper()
	w := &wall{program: start(t, "--admin-password", adminPassword)}
	w.admin, w.buyer = w.program.admin(), w.program.buyer(nil, "owner")
	w.item = w.admin.publish(map[string]any{"per_buyer_limit": 3})
	w.later = w.admin.publish(map[string]any{"starts_at": "2030-01-02T03:04:00+01:00"})
	a := w.buyer.buy(w.item.ID, 1)
	a.want(t, http.StatusAccepted)
	w.ticket = w.buyer.verdict(decode[ticket](t, a).Ticket, 10*time.Second)
	w.order = *w.ticket.Order
	w.item = w.admin.item(w.item.ID)
	w.before = fingerprint(t, w.database())
	return w
}

// mustStand checks that no row has changed and that the program is well.
func (w *wall) mustStand() {
	w.t.Helper()
	mustBeUntouched(w.t, w.program, w.before)
	w.client(nil).get("/readyz").want(w.t, http.StatusOK)
	w.mustBeSane()
}

// refused checks that an answer is a refusal that names the field, where a field is at fault.
func refused(t *testing.T, a answer, field, what string) {
	t.Helper()
	p := a.problem()
	what = fmt.Sprintf("%.150s → %d %.300s", what, a.status, a.body)
	switch {
	case a.status >= 500 || a.status < 400:
		t.Errorf("not a refusal: %s", what)
	case p.Code == "" || p.Status != a.status || p.RequestID == "" || p.RequestID != a.header.Get("X-Request-ID"):
		t.Errorf("not a problem of the contract: %s", what)
	case p.Code == "invalid" && p.Errors[field] == "" && !names422(p, field):
		t.Errorf("does not name %s: %s", field, what)
	case !slices.Contains([]string{"invalid", "malformed", "too_large"}, p.Code):
		t.Errorf("refused for another reason: %s", what)
	}
}

// names422 allows the outer field where the whole of it is wrong, and the inner ones where they are missing.
func names422(p problem, field string) bool {
	for name := range p.Errors {
		if strings.HasPrefix(name, field+".") || strings.EqualFold(name, field) {
			return true
		}
	}
	return false
}

func (w *wall) jsonCalls() []badCalls {
	good := map[string]string{"title": `"Pot"`, "price.amount": "1990", "price.currency": `"CNY"`, "stock": "5"}
	edit := maps.Clone(itemFieldsWrong())
	edit["version"] = slices.DeleteFunc(wrongIntegers(1, 1<<40), func(s string) bool {
		return s == "0" || s == fmt.Sprint(1<<40+1) // a version that is not the present one is a conflict
	})
	edit["stock"] = []string{"5", "-1", `"5"`}
	edit["price"] = slices.DeleteFunc(edit["price"], func(s string) bool { return s == "{}" }) // keeps what was
	path := "/api/v1/admin/items/" + w.later.ID
	return []badCalls{
		{"POST", "/api/v1/items/" + w.item.ID + "/buy", nil, map[string][]string{"quantity": append(wrongIntegers(1, 3), "0", "-1", "1000000000")}},
		{"POST", "/api/v1/admin/items", good, itemFieldsWrong()},
		{"PUT", path, map[string]string{"version": fmt.Sprint(w.later.Version)}, edit},
		{"POST", path + "/stock", map[string]string{"delta": "1", "reason": `"x"`}, map[string][]string{
			"delta":  append(wrongIntegers(-10_000_000, 10_000_000), "0"),
			"reason": wrongTexts(strings.Repeat("x", 201), strings.Repeat("x", 60_000))}},
	}
}

// TestWrongJSON sends every field of every call some thirty wrong values or more: each is refused by name, and no row
// changes.
func TestWrongJSON(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	sent := 0
	for _, call := range w.jsonCalls() {
		c := w.admin
		if strings.HasSuffix(call.path, "/buy") {
			c = w.program.buyer(nil, "stranger")
		}
		for field, values := range call.bad {
			for _, raw := range values {
				b := body(call.good, field, raw)
				refused(t, c.json(call.method, call.path, b), field, call.method+" "+call.path+" "+b)
				sent++
			}
			name := field[strings.LastIndex(field, ".")+1:]
			for _, b := range w.crooked(call, field, name) {
				refused(t, c.json(call.method, call.path, b), field, call.method+" "+call.path+" "+b)
				sent++
			}
		}
		for _, b := range wrongBodies {
			refused(t, c.json(call.method, call.path, b), "", call.method+" "+call.path+" "+b)
			sent++
		}
		c.do(call.method, call.path, "text/plain", "{}").wantCode(t, http.StatusUnsupportedMediaType, "unsupported_type")
	}
	t.Logf("%d wrong bodies", sent)
	w.mustStand()
}

// crooked is bodies that name a field twice, or in other letters.
func (w *wall) crooked(call badCalls, field, name string) []string {
	good := call.good[field]
	if good == "" {
		good = "1"
	}
	twice := body(call.good, field, good+fmt.Sprintf(",%q:%s", name, good))
	other := body(call.good, field, good+fmt.Sprintf(",%q:%s", strings.ToUpper(name), good))
	return []string{twice, other}
}

// wrongBodies is what is no JSON object at all.
var wrongBodies = []string{"null", "[]", `"x"`, "1", "true", "{", "}", `{"a"`, `{"a":}`, `{"a":1}{"b":2}`, `{} trailing`, "{}{}",
	"\xef\xbb\xbf{}", "\x00", "NaN", "<xml/>", "a=1&b=2", `{'a':1}`, `{"a":1,}`, "{/**/}", strings.Repeat("[", 20_000),
	`{"a":` + strings.Repeat(`{"a":`, 15_000)}

// TestWrongQuery sends every query parameter and every part of a path wrong values.
func TestWrongQuery(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	moments := append(slices.Clone(hostile), "", "2026-01-02", "2026-13-01T00:00:00Z", "1")
	limits := append(slices.Clone(hostile), "", "0", "-1", "201", "1.0", "1e1", " 1", "99999999999999999999")
	cursors := append(slices.Clone(hostile), "0", "-1", strings.Repeat("x", 5000))
	ids := append(slices.Clone(hostile), "", "0", "-1", "01", "+1", " 1", "9223372036854775808", "1.0")
	filter := map[string][]string{"item": ids, "buyer": {"", strings.Repeat("x", 129)}, "status": append(slices.Clone(hostile), "", "PENDING", "won"),
		"from": moments, "to": moments}
	page := map[string][]string{"limit": limits, "after": cursors}
	both := maps.Clone(filter)
	maps.Copy(both, page)
	for _, call := range []struct {
		c      *client
		path   string
		params map[string][]string
	}{
		{w.buyer, "/api/v1/items", page},
		{w.buyer, "/api/v1/orders", map[string][]string{"limit": limits, "after": cursors, "item": ids}},
		{w.admin, "/api/v1/admin/items", page},
		{w.admin, "/api/v1/admin/orders", both},
		{w.admin, "/api/v1/admin/orders.csv", filter},
	} {
		for name, values := range call.params {
			for _, value := range values {
				query := "?" + url.Values{name: {value}}.Encode()
				refused(t, call.c.get(call.path+query), name, call.path+query)
			}
			twice := "?" + name + "=1&" + name + "=1"
			refused(t, call.c.get(call.path+twice), name, call.path+twice)
		}
		call.c.get(call.path+"?unknown=NaN").want(t, http.StatusOK)
	}
	w.mustStand()
}

// TestWrongPaths asks for what can not exist, for what is another's, with wrong methods, and from nobody.
func TestWrongPaths(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	ids := append(slices.Clone(hostile), "0", "-1", "01", "+1", "9223372036854775808", "1.0", w.item.ID+"0", w.item.ID+" ", strings.Repeat("9", 3000))
	tickets := append(slices.Clone(ids), "1-1-1-AAAA", w.ticket.Ticket+"A", w.ticket.Ticket[:len(w.ticket.Ticket)-1],
		strings.Replace(w.ticket.Ticket, "-1-1-", "-1-2-", 1))
	for _, call := range []struct {
		c      *client
		method string
		path   string
		values []string
		body   string
	}{
		{w.buyer, "GET", "/api/v1/items/%s", ids, ""},
		{w.buyer, "POST", "/api/v1/items/%s/buy", ids, ""},
		{w.buyer, "GET", "/api/v1/tickets/%s", tickets, ""},
		{w.buyer, "GET", "/api/v1/orders/%s", ids, ""},
		{w.buyer, "GET", "/api/v1/ws?item=%s", ids, ""},
		{w.admin, "GET", "/api/v1/admin/items/%s", ids, ""},
		{w.admin, "GET", "/api/v1/admin/items/%s/ledger", ids, ""},
		{w.admin, "PUT", "/api/v1/admin/items/%s", ids, `{"version":1,"title":"x"}`},
		{w.admin, "POST", "/api/v1/admin/items/%s/stock", ids, `{"delta":1}`},
		{w.admin, "POST", "/api/v1/admin/items/%s/pause", ids, ""},
		{w.admin, "POST", "/api/v1/admin/items/%s/resume", ids, ""},
		{w.admin, "POST", "/api/v1/admin/items/%s/close", ids, ""},
	} {
		for _, value := range call.values {
			path := fmt.Sprintf(call.path, url.PathEscape(value))
			if strings.Contains(call.path, "?") {
				path = fmt.Sprintf(call.path, url.QueryEscape(value))
			}
			a := call.c.json(call.method, path, call.body)
			if p := a.problem(); a.status != http.StatusNotFound || p.Code != "not_found" {
				t.Errorf("%s %.120s: %d %.200s", call.method, path, a.status, a.body)
			}
		}
	}
	other := w.program.buyer(nil, "other")
	other.get("/api/v1/tickets/"+w.ticket.Ticket).wantCode(t, http.StatusNotFound, "not_found")
	other.get("/api/v1/orders/"+w.order.No).wantCode(t, http.StatusNotFound, "not_found")
	w.buyer.get("/api/v1/orders/"+w.order.No).want(t, http.StatusOK)
	w.mustRefuseStrangers()
	w.mustStand()
}

// mustRefuseStrangers checks who may call what, and with which methods.
func (w *wall) mustRefuseStrangers() {
	t := w.t
	t.Helper()
	nobody, guesser := w.program.client(nil), w.program.client(nil, "Authorization", "Bearer "+adminToken+"x")
	for _, c := range []*client{nobody, guesser} {
		for _, call := range [][2]string{{"GET", "/api/v1/admin/items"}, {"POST", "/api/v1/admin/items"}, {"GET", "/api/v1/admin/orders.csv"},
			{"POST", "/api/v1/admin/items/" + w.item.ID + "/close"}, {"GET", "/api/v1/admin/audit"}} {
			a := c.json(call[0], call[1], "")
			a.wantCode(t, http.StatusUnauthorized, "unauthenticated")
			if a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s %s: 401 without WWW-Authenticate", call[0], call[1])
			}
		}
	}
	nobody.buy(w.item.ID, 0).wantCode(t, http.StatusUnauthorized, "unauthenticated")
	for _, id := range []string{strings.Repeat("x", 129), "a b", "é", "\x7f"} {
		c := w.program.client(nil)
		c.header["X-Buyer-ID"] = []string{id}
		if a, err := c.tryBuy(w.item.ID, 0); err == nil && a.status < 400 || a.status >= 500 {
			t.Errorf("buyer %q: %d", id, a.status)
		}
	}
	for _, call := range [][2]string{{"PUT", "/api/v1/items"}, {"GET", "/api/v1/items/" + w.item.ID + "/buy"}, {"DELETE", "/api/v1/admin/items"},
		{"GET", "/api/v1/admin/items/" + w.item.ID + "/close"}, {"POST", "/healthz"}, {"GET", "/admin/items/" + w.item.ID + "/close"},
		{"GET", "/items/" + w.item.ID + "/buy"}, {"GET", "/logout"}} {
		if a := w.admin.do(call[0], call[1], "", ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") == "" {
			t.Errorf("%s %s: %d, Allow %q", call[0], call[1], a.status, a.header.Get("Allow"))
		}
	}
	for _, path := range []string{"/api/v1/nothing", "/nothing", "/api/v2/items", "/.git/config", "/static/../main.go", "/static/"} {
		if a := w.admin.get(path); a.status != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, a.status)
		}
	}
}

// TestCrossOrigin: forms and calls from another site are refused before they do anything.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for _, from := range []map[string]string{
		{"Origin": "https://evil.example"}, {"Origin": "null"},
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost"},
	} {
		for _, call := range [][3]string{
			{"/api/v1/items/" + w.item.ID + "/buy", "application/json", "{}"},
			{"/items/" + w.item.ID + "/buy", "application/x-www-form-urlencoded", "quantity=1"},
			{"/login", "application/x-www-form-urlencoded", "name=admin&password=x"},
			{"/api/v1/admin/items/" + w.item.ID + "/close", "application/json", "{}"},
		} {
			c := w.program.client(nil, "X-Buyer-ID", "victim", "Authorization", "Bearer "+adminToken)
			for name, value := range from {
				c.header.Set(name, value)
			}
			if a := c.do("POST", call[0], call[1], call[2]); a.status != http.StatusForbidden {
				t.Errorf("POST %s from %v: %d", call[0], from, a.status)
			}
		}
	}
	w.mustStand()
}

// fieldError finds the reason beside a field of a form.
func fieldError(page []byte, field string) string {
	m := regexp.MustCompile(`(?s)id="` + regexp.QuoteMeta(field) + `-error"[^>]*>(.*?)</`).FindSubmatch(page)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(string(m[1]))
}

// logIn is a guest who has logged in as admin through the page.
func (p *program) logIn() *client {
	p.t.Helper()
	c := p.guest()
	c.form("/login", url.Values{"name": {"admin"}, "password": {adminPassword}}).want(p.t, http.StatusSeeOther)
	return c
}

// TestWrongForms fills every field of every form with wrong values: the form comes back with the reason beside the
// field and what was typed in the others, and no row changes.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	c := w.logIn()
	good := url.Values{"title": {"Typed title"}, "description": {"Typed text"}, "image_url": {"/pot.png"}, "price": {"19.90"},
		"currency": {"CNY"}, "stock": {"5"}, "per_buyer_limit": {"2"}, "pay_within": {"600"}, "starts_at": {"2030-01-02T03:04"},
		"ends_at": {"2030-01-03T03:04"}, "time_zone": {"Europe/Berlin"}}
	edit := maps.Clone(good)
	edit.Set("version", fmt.Sprint(w.later.Version))
	page := "/admin/items/" + w.later.ID
	for _, form := range []struct {
		path   string
		good   url.Values
		fields map[string][]string
	}{
		{"/admin/items/new", good, wrongForms()},
		{page, edit, wrongForms()},
		{page + "/stock", url.Values{"delta": {"1"}, "reason": {"why"}}, map[string][]string{
			"delta": append(slices.Clone(hostile), "", "0", "1.5", "1e3", "10000001", "-10000001", "9223372036854775808"), "reason": {strings.Repeat("x", 201)}}},
	} {
		for field, values := range form.fields {
			if form.path == page && field == "stock" {
				continue // an edit has no stock
			}
			for _, value := range values {
				typed := maps.Clone(form.good)
				typed.Set(field, value)
				mustComeBack(t, c.form(form.path, typed), form.path, field, value)
			}
		}
	}
	for _, value := range append(slices.Clone(hostile), "0", "-1", "4", "1.5", "1e0", "9223372036854775808") {
		a := w.program.buyer(nil, "stranger").form("/items/"+w.item.ID+"/buy", url.Values{"quantity": {value}})
		mustComeBack(t, a, "buy", "quantity", value)
	}
	w.mustStand()
}

// mustComeBack checks that a wrong form is shown again with the reason beside the field.
func mustComeBack(t *testing.T, a answer, path, field, value string) {
	t.Helper()
	if a.status < 400 || a.status >= 500 {
		t.Errorf("%s with %s=%.60q: status %d %s", path, field, value, a.status, a.header.Get("Location"))
		return
	}
	if fieldError(a.body, field) == "" {
		t.Errorf("%s with %s=%.60q: %d, no reason in #%s-error", path, field, value, a.status, field)
	}
	if strings.Contains(path, "/admin/items/new") && field != "title" && !strings.Contains(string(a.body), "Typed title") {
		t.Errorf("%s with %s=%.60q: what was typed is lost", path, field, value)
	}
	for _, tag := range []string{"<script>alert(1)", "{{7*7}}49"} {
		if strings.Contains(string(a.body), tag) {
			t.Errorf("%s with %s=%.60q: typed text is not inert", path, field, value)
		}
	}
}

// TestWrongLogin: wrong names and passwords are refused alike, and log nobody in.
func TestWrongLogin(t *testing.T) {
	t.Parallel()
	w := newWall(t)
	for _, pair := range [][2]string{{"", ""}, {"admin", ""}, {"", adminPassword}, {"admin", "wrong"}, {"Admin", adminPassword},
		{"admin ", adminPassword}, {"admin", adminPassword + " "}, {"admin' --", "x"}, {"admin\x00", adminPassword},
		{strings.Repeat("x", 30_000), "x"}, {"admin", strings.Repeat("x", 30_000)}, {"\xff", "\xff"}, {"<script>alert(1)</script>", "x"}} {
		c := w.guest()
		a := c.form("/login", url.Values{"name": {pair[0]}, "password": {pair[1]}})
		if a.status < 400 || a.status >= 500 || strings.Contains(string(a.body), "<script>alert") {
			t.Errorf("log in as %.40q with %.40q: %d", pair[0], pair[1], a.status)
		}
		if got := c.get("/admin").status; got == http.StatusOK {
			t.Errorf("%.40q with %.40q is logged in", pair[0], pair[1])
		}
	}
	w.guest().do("POST", "/login", "text/plain", "name=admin").want(t, http.StatusUnsupportedMediaType)
	w.mustStand()
}
