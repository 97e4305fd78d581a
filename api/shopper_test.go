package api_test

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/api"
)

func keys(m map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }

func TestBuyFromClickToOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.publish(t, lamp)
	buy := "/api/v1/items/" + id + "/buy"
	s.call(t, "early", "POST", buy, "").want(t, http.StatusAccepted, "")
	a := s.call(t, "late", "POST", buy, `{"quantity":2}`)
	a.want(t, http.StatusAccepted, "")
	if got, want := keys(a.json), "ahead epoch item_id order quantity seq server_time status ticket"; got != want {
		t.Errorf("ticket has %s\nwant %s", got, want)
	}
	if a.text("status") != "queued" || a.json["ahead"] != 1.0 || a.json["seq"] != 2.0 || a.text("server_time") != "2026-05-01T12:00:00.000Z" {
		t.Errorf("ticket %s", a.Body)
	}
	again := s.call(t, "late", "POST", buy, `{}`)
	if again.Code != http.StatusAccepted || again.Body.String() != a.Body.String() {
		t.Errorf("the second click is answered %s", again.Body)
	}
	s.sell(t, id)

	won := s.call(t, "early", "GET", "/api/v1/tickets/"+s.call(t, "early", "POST", buy, "").text("ticket"), "")
	if won.Code != http.StatusNotFound {
		t.Errorf("a refusal has a ticket: %s", won.Body)
	}
	bought := s.call(t, "early", "POST", buy, "")
	bought.want(t, http.StatusConflict, "already_bought")
	order, _ := bought.json["order"].(map[string]any)
	if got, want := keys(order), "amount cancel_reason cancelled_at created_at expires_at item_id no paid_at quantity refund status title"; got != want {
		t.Errorf("order has %s\nwant %s", got, want)
	}
	no, _ := order["no"].(string)
	one := s.call(t, "early", "GET", "/api/v1/orders/"+no, "")
	one.want(t, http.StatusOK, "")
	list := s.call(t, "early", "GET", "/api/v1/orders?item="+id, "")
	if orders, _ := list.json["orders"].([]any); len(orders) != 1 || list.json["next"] != nil || list.text("server_time") == "" {
		t.Errorf("orders %s", list.Body)
	}
	lost := s.call(t, "late", "GET", "/api/v1/tickets/"+a.text("ticket"), "")
	if lost.text("status") != "sold_out" || lost.json["order"] != nil {
		t.Errorf("ticket of the second %s", lost.Body)
	}
	s.call(t, "late", "GET", "/api/v1/orders/"+no, "").want(t, http.StatusNotFound, "not_found")
	s.call(t, "early", "GET", "/api/v1/tickets/"+a.text("ticket"), "").want(t, http.StatusNotFound, "not_found")
	if others := s.call(t, "late", "GET", "/api/v1/orders", ""); len(others.json["orders"].([]any)) != 0 {
		t.Errorf("a loser has orders: %s", others.Body)
	}
}

func TestBuyRefusals(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.publish(t, strings.Replace(lamp, `"stock":2`, `"stock":0`, 1))
	next := s.publish(t, `{"title":"Next","price":{"amount":1,"currency":"JPY"},"stock":1,"starts_at":"2026-05-02T00:00:00Z"}`)
	click := func(who, item, body string) answer { return s.call(t, who, "POST", "/api/v1/items/"+item+"/buy", body) }
	click("", id, "").want(t, http.StatusUnauthorized, "unauthenticated")
	for _, body := range []string{`{"quantity":0}`, `{"quantity":-1}`, `{"quantity":3}`, `{"quantity":1e9}`, `{"quantity":"1"}`,
		`{"quantity":1.0}`, `{"quantity":null}`, `{"quantity":[1]}`, `{"quantity":9223372036854775808}`, `{"quantity":1,"quantity":1}`} {
		click("b", id, body).wantFields(t, "quantity")
	}
	click("b", id, `{"Quantity":1}`).wantFields(t, "Quantity")
	click("b", "9", `{"quantity":0}`).wantFields(t, "quantity")
	click("b", id, `{"buyer":"c","price":1}`).want(t, http.StatusConflict, "sold_out")
	click("b", next, "").want(t, http.StatusConflict, "not_started")
	s.call(t, "admin", "POST", "/api/v1/admin/items/"+id+"/pause", "").want(t, http.StatusOK, "")
	click("b", id, "").want(t, http.StatusConflict, "paused")
	s.pass(2 * time.Hour)
	click("b", id, "").want(t, http.StatusConflict, "ended")
	s.call(t, "admin", "POST", "/api/v1/admin/items/"+id+"/resume", "").want(t, http.StatusConflict, "ended")
	s.call(t, "admin", "POST", "/api/v1/admin/items/"+id+"/close", "").want(t, http.StatusOK, "")

	must(t, s.queue.Close())
	a := click("b", id, "")
	a.want(t, http.StatusServiceUnavailable, "unavailable")
	if a.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", a.Header().Get("Retry-After"))
	}
}

func TestListsAreOpenAndGiveNoCookie(t *testing.T) {
	t.Parallel()
	s := newShopOf(t, api.IdentityOptions{Mode: api.ModeGuest, Secrets: [][]byte{[]byte("a secret of the test, long enough")}})
	id := s.publish(t, lamp)
	s.publish(t, lamp)
	for _, path := range []string{"/api/v1/items", "/api/v1/items/" + id} {
		a := s.call(t, "", "GET", path, "")
		a.want(t, http.StatusOK, "")
		if a.Header().Get("Set-Cookie") != "" || a.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s has headers %v", path, a.Header())
		}
	}
	one := s.call(t, "", "GET", "/api/v1/items/"+id, "")
	if got, want := keys(one.json), "available description ends_at id image_url pay_within per_buyer_limit phase price server_time starts_at stock title"; got != want {
		t.Errorf("item has %s\nwant %s", got, want)
	}
	if one.text("starts_at") != "2026-05-01T12:00:00.000Z" || one.text("phase") != "open" {
		t.Errorf("item %s", one.Body)
	}
	first := s.call(t, "", "GET", "/api/v1/items?limit=1", "")
	second := s.call(t, "", "GET", "/api/v1/items?limit=1&after="+url.QueryEscape(first.text("next")), "")
	if len(first.json["items"].([]any)) != 1 || len(second.json["items"].([]any)) != 1 || second.json["next"] != nil ||
		first.Body.String() == second.Body.String() {
		t.Errorf("pages %s and %s", first.Body, second.Body)
	}

	s.call(t, "", "GET", "/api/v1/orders", "").want(t, http.StatusUnauthorized, "unauthenticated")
	me := s.call(t, "", "GET", "/api/v1/me", "")
	if me.Header().Get("Set-Cookie") == "" || me.text("mode") != "guest" || me.text("buyer") == "" || me.json["user"] != nil {
		t.Errorf("me %s with %v", me.Body, me.Header())
	}
	click := s.call(t, "", "POST", "/api/v1/items/"+id+"/buy", "")
	if click.Code != http.StatusAccepted || click.Header().Get("Set-Cookie") == "" {
		t.Errorf("a click without a cookie is answered %d with %v", click.Code, click.Header())
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, c := range []struct{ query, wrong string }{
		{"limit=0", "limit"}, {"limit=201", "limit"}, {"limit=-1", "limit"}, {"limit=%2B5", "limit"},
		{"limit=5.0", "limit"}, {"limit=05", "limit"},
		{"limit=", "limit"}, {"limit=99999999999999999999", "limit"}, {"limit=1&limit=2", "limit"}, {"after=nonsense", "after"},
		{"after=1&after=1", "after"},
		{"item=0", "item"}, {"item=x", "item"}, {"item=", "item"}, {"item=1+OR+1%3D1", "item"},
		{"buyer=", "buyer"}, {"buyer=" + strings.Repeat("x", 129), "buyer"}, {"status=won", "status"}, {"status=Paid", "status"},
		{"no=", "no"}, {"from=yesterday", "from"}, {"to=2026-05-01", "to"}, {"to=2026-05-01T00:00:00%2B", "to"},
		{"limit=%zz", "limit"}, {"limit=1;", "limit"}, {"item=%zz", "item"}, {"from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59Z", ""},
		{"from=1970-01-01T00:00:00Z", ""}, {"from=2026-05-01t00:00:00.5z", ""},
		{"unknown=%zz&a;b=1&%zz", ""},
		{"limit=200&item=1&buyer=b&status=paid&no=x&from=2026-05-01T00:00:00Z&to=2026-05-01T00:00:00%2B08:00", ""},
		{"Limit=0&unknown=1&unknown=2", ""},
	} {
		a := s.call(t, "admin", "GET", "/api/v1/admin/orders?"+c.query, "")
		if c.wrong != "" {
			a.wantFields(t, c.wrong)
		} else {
			a.want(t, http.StatusOK, "")
		}
	}
	s.call(t, "b", "GET", "/api/v1/orders?limit=0&item=x", "").wantFields(t, "limit", "item")
	id := s.publish(t, lamp)
	s.call(t, "b", "POST", "/api/v1/items/"+id+"/buy", "").want(t, http.StatusAccepted, "")
	s.sell(t, id)
	for query, want := range map[string]int{"from=0001-01-01T00:00:00Z": 1, "from=1970-01-01T00:00:00Z": 1,
		"to=0001-01-01T00:00:00Z": 0, "to=1970-01-01T00:00:00Z": 0, "to=9999-12-31T23:59:59Z": 1} {
		a := s.call(t, "admin", "GET", "/api/v1/admin/orders?"+query, "")
		if orders, _ := a.json["orders"].([]any); len(orders) != want {
			t.Errorf("%s finds %d orders, want %d: %s", query, len(orders), want, a.Body)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	if a := s.call(t, "", "GET", "/healthz", ""); a.Code != http.StatusOK || a.Body.String() != "ok" {
		t.Errorf("healthz %d %s", a.Code, a.Body)
	}
	if a := s.call(t, "", "GET", "/readyz", ""); a.Code != http.StatusOK || a.json["ready"] != true {
		t.Errorf("readyz %d %s", a.Code, a.Body)
	}
	s.ready["sql"] = errors.New("password of the database")
	a := s.call(t, "", "GET", "/readyz", "")
	if checks := a.json["checks"].(map[string]any); a.Code != http.StatusServiceUnavailable || a.json["ready"] != false ||
		checks["sql"] != false || checks["queue"] != true || strings.Contains(a.Body.String(), "password") {
		t.Errorf("readyz %d %s", a.Code, a.Body)
	}
}
