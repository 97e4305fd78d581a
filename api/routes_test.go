package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"seckill/api"
)

// contract is every call of the contract that answers no page and is not about payments.
const contract = `
GET /api/v1/items
GET /api/v1/items/:id
POST /api/v1/items/:id/buy
GET /api/v1/tickets/:ticket
GET /api/v1/orders
GET /api/v1/orders/:no
GET /api/v1/me
GET /api/v1/ws
POST /api/v1/admin/items
GET /api/v1/admin/items
GET /api/v1/admin/items/:id
PUT /api/v1/admin/items/:id
POST /api/v1/admin/items/:id/stock
POST /api/v1/admin/items/:id/pause
POST /api/v1/admin/items/:id/resume
POST /api/v1/admin/items/:id/close
GET /api/v1/admin/items/:id/ledger
GET /api/v1/admin/orders
GET /api/v1/admin/orders.csv
GET /api/v1/admin/audit
GET /healthz
GET /readyz
GET /metrics
`

func TestRoutesAreTheContracts(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range api.Routes() {
		got = append(got, r.Method+" "+r.Path)
		if r.Admin != strings.HasPrefix(r.Path, "/api/v1/admin/") {
			t.Errorf("%s is for admins: %v", r.Path, r.Admin)
		}
	}
	want := strings.Split(strings.TrimSpace(contract), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("routes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// path is a path that the route takes, of things that are not there.
func path(r api.Route) string {
	return strings.NewReplacer(":id", "42", ":ticket", "42-1-1-x", ":no", "42").Replace(r.Path)
}

func TestWrongMethodsAndStrangers(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	methods := map[string][]string{}
	for _, r := range api.Routes() {
		methods[r.Path] = append(methods[r.Path], r.Method)
	}
	for _, r := range api.Routes() {
		if !strings.HasPrefix(r.Path, "/api/") {
			continue
		}
		for _, method := range []string{"DELETE", "PATCH", "PUT", "POST", "GET"} {
			if slices.Contains(methods[r.Path], method) {
				continue
			}
			a := s.call(t, "admin", method, path(r), "")
			a.want(t, http.StatusMethodNotAllowed, "method_not_allowed")
			allow := strings.Split(a.Header().Get("Allow"), ", ")
			allow = slices.DeleteFunc(allow, func(m string) bool { return m == http.MethodHead })
			if slices.Sort(allow); !slices.Equal(allow, slices.Sorted(slices.Values(methods[r.Path]))) {
				t.Errorf("%s %s allows %v", method, r.Path, allow)
			}
		}
		if r.Admin {
			for _, header := range [][]string{nil, {"Authorization", "Bearer wrong"}} {
				a := s.call(t, "buyer", r.Method, path(r), "", header...)
				a.want(t, http.StatusUnauthorized, "unauthenticated")
				if a.Header().Get("WWW-Authenticate") == "" {
					t.Errorf("%s has no WWW-Authenticate", r.Path)
				}
			}
		}
	}
	for _, path := range []string{"/api/", "/api/v1", "/api/v1/items/", "/api/v1/items/1/", "/api/v2/items", "/api/v1/pushes"} {
		s.call(t, "admin", "GET", path, "").want(t, http.StatusNotFound, "not_found")
	}
}

func TestHeadIsAnsweredAsGet(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, r := range api.Routes() {
		if r.Method != http.MethodGet {
			continue
		}
		who, status := "buyer", s.call(t, "buyer", "GET", path(r), "").Code
		if r.Admin {
			s.call(t, who, "HEAD", path(r), "").want(t, http.StatusUnauthorized, "unauthenticated")
			who, status = "admin", s.call(t, "admin", "GET", path(r), "").Code
		}
		if r.Socket {
			status = http.StatusMethodNotAllowed
		}
		if a := s.call(t, who, "HEAD", path(r), ""); a.Code != status {
			t.Errorf("HEAD %s answers %d, want %d", r.Path, a.Code, status)
		}
	}
}

func TestIdsThatNameNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	for _, id := range []string{"42", "0", "-1", "+1", "01", "1e3", "9223372036854775808", "1%20OR%201=1", "a", "%00", "1%2F2"} {
		for _, r := range api.Routes() {
			if !strings.Contains(r.Path, ":") {
				continue
			}
			body, who := "", "buyer"
			switch {
			case strings.HasSuffix(r.Path, "/stock"):
				body = `{"delta":1}`
			case r.Method == http.MethodPut:
				body = `{"version":1}`
			}
			if r.Admin {
				who = "admin"
			}
			path := strings.NewReplacer(":id", id, ":ticket", id, ":no", id).Replace(r.Path)
			s.call(t, who, r.Method, path, body).want(t, http.StatusNotFound, "not_found")
		}
		s.call(t, "buyer", "GET", "/api/v1/ws?item="+id, "").want(t, http.StatusNotFound, "not_found")
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	long := strings.Repeat("x", 64)
	for _, c := range []struct {
		sent  string
		taken bool
	}{{"a.B-c_9", true}, {long, true}, {long + "x", false}, {"", false}, {"a b", false}, {"é", false}, {"a\"b", false}} {
		for _, path := range []string{"/api/v1/items", "/api/v1/items/9", "/api/v1/nothing", "/healthz"} {
			a := s.call(t, "", "GET", path, "", "X-Request-ID", c.sent)
			id := a.Header().Get("X-Request-ID")
			if id == "" || (id == c.sent) != c.taken {
				t.Errorf("%s: sent %q, got %q", path, c.sent, id)
			}
			if a.code() != "" && a.text("request_id") != id {
				t.Errorf("%s: the problem says %q, the header %q", path, a.text("request_id"), id)
			}
		}
	}
}

// routesWithBodies is the calls that read a body.
func routesWithBodies() []api.Route {
	return slices.DeleteFunc(api.Routes(), func(r api.Route) bool { return r.Body == nil })
}

// bodyWith is a right body of the call, but for one field, which has the value instead.
func bodyWith(path, name, value string) string {
	fields := map[string]string{}
	switch {
	case strings.HasSuffix(path, "/stock"):
		fields["delta"] = "1"
	case strings.HasSuffix(path, "/admin/items/:id"):
		fields["version"] = "1"
	case strings.HasSuffix(path, "/admin/items"):
		fields = map[string]string{"title": `"Lamp"`, "price": `{"amount":1,"currency":"CNY"}`, "stock": "1"}
	}
	switch name {
	case "price.amount", "PRICE.AMOUNT":
		name, value = "price", `{"currency":"CNY","`+strings.TrimPrefix(strings.TrimPrefix(name, "price."), "PRICE.")+`":`+value+`}`
	case "price.currency", "PRICE.CURRENCY":
		name, value = "price", `{"amount":1,"`+strings.TrimPrefix(strings.TrimPrefix(name, "price."), "PRICE.")+`":`+value+`}`
	}
	fields[name] = value
	var parts []string
	for name, value := range fields {
		parts = append(parts, `"`+name+`":`+value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}
