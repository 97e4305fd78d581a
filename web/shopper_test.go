package web_test

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"seckill/api"
	"seckill/model"
)

func queuedOf(t *testing.T, s *shop, id model.ID) int64 {
	t.Helper()
	ledger, err := s.desk.Ledger(context.Background(), id)
	must(t, err)
	return ledger.Queued
}

func TestBuyByForm(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 1)
	page := "/items/" + item.ID.String()
	r := s.reader()
	r.get("/").want(t, http.StatusOK, "Lamp", `href="`+page+`"`, "19.90", "On sale")
	a := r.get(page).want(t, http.StatusOK, `id="buy"`, `id="countdown"`, `role="status"`)
	if a.attr(t, "status") != "" || a.attr(t, "phase") != "open" || a.attr(t, "item") != item.ID.String() || a.attr(t, "available") != "1" {
		t.Errorf("the item's page: %s", a.body)
	}

	to := r.post(page+"/buy", url.Values{"quantity": {"1"}}).want(t, http.StatusSeeOther).Header.Get("Location")
	if !strings.HasPrefix(to, "/tickets/"+item.ID.String()+"-") {
		t.Fatalf("sent to %q", to)
	}
	if again := r.post(page+"/buy", url.Values{}).want(t, http.StatusSeeOther).Header.Get("Location"); again != to {
		t.Errorf("the second click has another ticket: %q, %q", to, again)
	}
	a = r.get(to).want(t, http.StatusOK, "You are next in line", `http-equiv="refresh" content="1"`)
	if a.attr(t, "status") != "queued" || a.attr(t, "ahead") != "0" || "/tickets/"+a.attr(t, "ticket") != to {
		t.Errorf("the ticket's page: %s", a.body)
	}
	r.get(page).want(t, http.StatusOK, `href="`+to+`"`)

	s.sell(item.ID)
	a = r.get(to).want(t, http.StatusOK, "It is yours")
	if a.attr(t, "status") != "won" || strings.Contains(a.body, "http-equiv") {
		t.Errorf("the winner's page: %s", a.body)
	}
	order := "/orders/" + a.attr(t, "order")
	r.get(order).want(t, http.StatusOK, "Lamp", "19.90", "Reserved")
	r.get("/orders").want(t, http.StatusOK, `href="`+order+`"`)
	if bought := r.post(page+"/buy", url.Values{}).want(t, http.StatusSeeOther).Header.Get("Location"); !strings.HasPrefix(bought, order) {
		t.Errorf("a holder's click is sent to %q", bought)
	}

	other := s.reader()
	other.get(order).want(t, http.StatusNotFound)
	other.get(to).want(t, http.StatusNotFound)
	other.get("/orders").want(t, http.StatusOK, "no orders yet")
	other.post(page+"/buy", url.Values{}).want(t, http.StatusConflict, "Sold out", `id="sale"`)
}

func TestRefusedClicks(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 5)
	buy := "/items/" + item.ID.String() + "/buy"
	for _, quantity := range []string{"0", "-1", "3", "1e0", "x", "99999999999999999999"} {
		s.reader().post(buy, url.Values{"quantity": {quantity}}).want(t, http.StatusUnprocessableEntity,
			`id="quantity-error"`, `aria-invalid="true"`, `value="`+quantity+`"`)
	}
	s.reader().post("/items/1/buy", url.Values{}).want(t, http.StatusNotFound)
	single := s.item("One each", 5)
	_, err := s.desk.Edit(context.Background(), single.ID, single.Version, model.Draft{PerBuyerLimit: new(int64(1))})
	must(t, err)
	s.reader().post("/items/"+single.ID.String()+"/buy", url.Values{"quantity": {"2"}}).want(t, http.StatusUnprocessableEntity,
		`id="quantity-error">must be`, `<button id="buy" type="submit" aria-describedby="quantity-error"`)
	if _, err := s.desk.Pause(context.Background(), item.ID); err != nil {
		t.Fatal(err)
	}
	s.reader().post(buy, url.Values{}).want(t, http.StatusConflict, "paused", `data-phase="paused"`, "disabled")
	if _, err := s.desk.Close(context.Background(), item.ID); err != nil {
		t.Fatal(err)
	}
	s.reader().post(buy, url.Values{}).want(t, http.StatusConflict, "has ended", `data-phase="ended"`)
	if queued := queuedOf(t, s, item.ID); queued != 0 {
		t.Errorf("%d refused clicks are in line", queued)
	}
}

func TestPagesMakeAGuest(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 5)
	buyers := func(a answer) int {
		return len(slices.DeleteFunc(a.Cookies(), func(c *http.Cookie) bool { return c.Name != "seckill_buyer" }))
	}
	for _, path := range []string{"/", "/items/" + item.ID.String(), "/orders", "/orders/x", "/tickets/x", "/login", "/admin"} {
		r := s.reader()
		if first, second := buyers(r.get(path)), buyers(r.get(path)); first != 1 || second != 0 {
			t.Errorf("%s gave %d cookies, then %d", path, first, second)
		}
	}
	for _, path := range []string{"/static/seckill.css", "/favicon.ico", "/healthz", "/api/v1/items"} {
		if n := buyers(s.reader().get(path)); n != 0 {
			t.Errorf("%s gave %d cookies", path, n)
		}
	}
}

func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 5)
	r := s.admin()
	before, err := s.desk.AdminItem(context.Background(), item.ID)
	must(t, err)
	for _, end := range []string{"", "/buy", "/stock", "/pause", "/resume", "/close"} {
		r.get("/items/" + item.ID.String() + end + "?quantity=1&delta=5")
		r.get("/admin/items/" + item.ID.String() + end + "?delta=5&title=x")
	}
	r.get("/logout")
	r.get("/admin").want(t, http.StatusOK)
	if after, err := s.desk.AdminItem(context.Background(), item.ID); err != nil || after != before {
		t.Errorf("%+v, %v; was %+v", after, err, before)
	}
}

func TestTitlesAreInert(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("</script><img src=x onerror=alert(1)> \u2028\u202e🚀", 5)
	for _, path := range []string{"/", "/items/" + item.ID.String()} {
		a := s.reader().get(path).want(t, http.StatusOK, "&lt;/script&gt;&lt;img", "🚀")
		if strings.Contains(a.body, "<img src=x") || strings.Contains(a.body, "</script><img") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	s.admin().get("/admin/items/"+item.ID.String()).want(t, http.StatusOK, `value="&lt;/script&gt;&lt;img`)
}

func TestHeaderBuyers(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeHeader)
	item := s.item("Lamp", 5)
	page := "/items/" + item.ID.String()
	r := s.reader()
	r.get("/").want(t, http.StatusOK, "Lamp")
	r.get(page).want(t, http.StatusOK, "Sign in to buy", "disabled")
	r.post(page+"/buy", url.Values{}).want(t, http.StatusUnauthorized, "Sign in")
	r.get("/orders").want(t, http.StatusUnauthorized)
	named := map[string]string{"X-Buyer-ID": "alice"}
	to := r.send(http.MethodPost, page+"/buy", url.Values{}, named).want(t, http.StatusSeeOther).Header.Get("Location")
	r.send(http.MethodGet, to, nil, named).want(t, http.StatusOK, "in line")
	r.send(http.MethodGet, to, nil, map[string]string{"X-Buyer-ID": "bob"}).want(t, http.StatusNotFound)
}
