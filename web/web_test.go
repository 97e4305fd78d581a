package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"seckill/api"
)

func TestEveryAnswerHasTheHeaders(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	for _, path := range []string{"/", "/login", "/nowhere", "/api/v1/items", "/api/v1/nowhere", "/static/seckill.css", "/healthz"} {
		a := s.reader().get(path)
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'self'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("X-Request-Id") == "" {
			t.Errorf("%s: headers %v", path, a.Header)
		}
		if strings.Contains(a.body, "<style") || strings.Contains(a.body, " style=") || strings.Contains(a.body, "onclick") {
			t.Errorf("%s: something inline in %s", path, a.body)
		}
	}
}

func TestUnknownPagesAndMethods(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 1)
	r := s.reader()
	for _, path := range []string{"/nowhere", "/items/1", "/items/x", "/items/1%20OR%201=1", "/tickets/1-1-1-x", "/orders/x",
		"/items/" + item.ID.String() + "/"} {
		r.get(path).want(t, http.StatusNotFound, "Not found", `<html lang="en">`)
	}
	for _, path := range []string{"/items/" + item.ID.String() + "/buy", "/logout", "/admin/items/1/close"} {
		if a := r.get(path).want(t, http.StatusMethodNotAllowed, "Not this way"); a.Header.Get("Allow") != "POST" {
			t.Errorf("GET %s: Allow %q", path, a.Header.Get("Allow"))
		}
	}
	if code := r.get("/api/v1/nowhere").want(t, http.StatusNotFound).code(t); code != "not_found" {
		t.Errorf("code %q", code)
	}
	if code := r.post("/api/v1/items", url.Values{}).want(t, http.StatusMethodNotAllowed).code(t); code != "method_not_allowed" {
		t.Errorf("code %q", code)
	}
	r.get("/static/nothing.js").want(t, http.StatusNotFound)
	r.send(http.MethodHead, "/", nil, nil).want(t, http.StatusOK)
}

func TestOtherOriginsAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 5)
	for _, headers := range []map[string]string{{"Origin": "https://evil.example"}, {"Origin": "null"},
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}} {
		r := s.reader()
		r.send(http.MethodPost, "/items/"+item.ID.String()+"/buy", url.Values{}, headers).
			want(t, http.StatusForbidden, "another site")
		if code := r.send(http.MethodPost, "/api/v1/items/"+item.ID.String()+"/buy", nil, headers).
			want(t, http.StatusForbidden).code(t); code != "cross_origin" {
			t.Errorf("code %q", code)
		}
	}
	if queued := queuedOf(t, s, item.ID); queued != 0 {
		t.Errorf("%d clicks of other sites are in line", queued)
	}
	s.reader().send(http.MethodPost, "/items/"+item.ID.String()+"/buy", url.Values{}, map[string]string{"Origin": s.url}).
		want(t, http.StatusSeeOther)
}

func TestLargeBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	large := url.Values{"name": {strings.Repeat("x", 70_000)}}
	for _, path := range []string{"/login", "/logout", "/items/1/buy", "/admin/items/new", "/admin/items/1/pause"} {
		s.reader().post(path, large).want(t, http.StatusRequestEntityTooLarge, "Too large")
	}
	if code := s.reader().post("/api/v1/items/1/buy", large).want(t, http.StatusRequestEntityTooLarge).code(t); code != "too_large" {
		t.Errorf("code %q", code)
	}
}

func TestStaticFiles(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	r := s.reader()
	for path, mime := range map[string]string{"/static/live.js": "text/javascript; charset=utf-8",
		"/static/seckill.css": "text/css; charset=utf-8", "/static/logo.svg": "image/svg+xml",
		"/static/vendor/pico.min.css": "text/css; charset=utf-8"} {
		a := r.get(path).want(t, http.StatusOK)
		if a.Header.Get("Content-Type") != mime || a.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, a.Header)
		}
		tag := a.Header.Get("ETag")
		r.send(http.MethodGet, path, nil, map[string]string{"If-None-Match": tag}).want(t, http.StatusNotModified)
		kept := r.get(path + "?v=" + strings.Trim(tag, `"`))
		if !strings.Contains(kept.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s with its hash: %v", path, kept.Header)
		}
	}
	for _, path := range []string{"/static/test/line.test.js", "/static/package.json", "/static/embed.go", "/static/", "/static/../web.go"} {
		r.get(path).want(t, http.StatusNotFound)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	r := s.reader()
	if to := r.get("/admin/items/new").want(t, http.StatusSeeOther).Header.Get("Location"); to != "/login?next=%2Fadmin%2Fitems%2Fnew" {
		t.Errorf("sent to %q", to)
	}
	r.get("/login?next=/admin/items/new").want(t, http.StatusOK, `value="/admin/items/new"`)
	r.get("/login?next=//evil.example").want(t, http.StatusOK, `value="/admin"`)
	r.post("/login", url.Values{"name": {"admin"}, "password": {"wrong"}}).
		want(t, http.StatusUnauthorized, "not right", `value="admin"`)
	a := r.post("/login", url.Values{"name": {"admin"}, "password": {password}, "next": {"/admin/items/new"}}).
		want(t, http.StatusSeeOther)
	if to := a.Header.Get("Location"); to != "/admin/items/new" {
		t.Errorf("sent to %q", to)
	}
	r.get("/admin").want(t, http.StatusOK, "Log out")
	session := sessionOf(t, a)
	r.post("/logout", url.Values{}).want(t, http.StatusSeeOther)
	r.get("/admin").want(t, http.StatusSeeOther)
	old := s.reader().send(http.MethodGet, "/admin", nil, map[string]string{"Cookie": session.String()})
	old.want(t, http.StatusSeeOther)
}

func sessionOf(t *testing.T, a answer) *http.Cookie {
	t.Helper()
	for _, cookie := range a.Cookies() {
		if cookie.Name == "seckill_session" {
			return &http.Cookie{Name: cookie.Name, Value: cookie.Value}
		}
	}
	t.Fatal("no session cookie")
	return nil
}
