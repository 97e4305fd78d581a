package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"seckill/api"
	"seckill/model"
)

// good is a form that publishes.
func good() url.Values {
	return url.Values{"title": {"Tea pot"}, "description": {"Red.\r\nHolds a litre."}, "image_url": {"/static/demo.svg"},
		"price": {"1 299,50"}, "currency": {"eur"}, "stock": {"10"}, "per_buyer_limit": {"2"}, "pay_within": {"600"},
		"starts_at": {"2030-07-01T12:00"}, "ends_at": {"2030-07-02T12:00:30"}, "time_zone": {"Europe/Berlin"}}
}

func TestPublishByForm(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	r := s.admin()
	r.get("/admin/items/new").want(t, http.StatusOK, `name="price"`, `name="time_zone"`)
	to := r.post("/admin/items/new", good()).want(t, http.StatusSeeOther).Header.Get("Location")
	path, _, _ := strings.Cut(to, "?")
	r.get(to).want(t, http.StatusOK, "Published.", "Tea pot", `value="1299.50"`, `value="2030-07-01T10:00:00"`)
	id, err := model.ParseID(strings.TrimPrefix(path, "/admin/items/"))
	must(t, err)
	item, err := s.desk.AdminItem(context.Background(), id)
	must(t, err)
	starts := model.InstantOf(time.Date(2030, 7, 1, 10, 0, 0, 0, time.UTC))
	if item.Price != (model.Money{Amount: 129950, Currency: "EUR"}) || item.Stock != 10 || item.PerBuyerLimit != 2 ||
		item.PayWithin != 600 || item.StartsAt != starts || item.EndsAt != starts.Add(24*time.Hour+30*time.Second) ||
		item.Description != "Red.\nHolds a litre." {
		t.Errorf("published %+v", item)
	}
	r.get("/admin").want(t, http.StatusOK, "Tea pot", `data-item="`+id.String()+`"`)
}

func TestWrongFormKeepsEverything(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	r := s.admin()
	typed := url.Values{"title": {" "}, "description": {"<b>kept</b>"}, "image_url": {"ftp://x"}, "price": {"12 monkeys"},
		"currency": {"XYZ"}, "stock": {"-4"}, "per_buyer_limit": {"1e3"}, "pay_within": {"0"},
		"starts_at": {"2030-03-31T02:30"}, "ends_at": {"soon"}, "time_zone": {"Europe/Berlin"}}
	a := r.post("/admin/items/new", typed).want(t, http.StatusUnprocessableEntity, "Some fields are not right",
		"&lt;b&gt;kept&lt;/b&gt;", `value="ftp://x"`, `value="12 monkeys"`, `value="XYZ"`, `value="-4"`, `value="1e3"`,
		`value="2030-03-31T02:30"`, `value="Europe/Berlin"`, "clocks of this zone skip")
	for name := range typed {
		wrong := !strings.Contains(a.body, `id="`+name+`-error"></p>`)
		if want := name != "description" && name != "time_zone"; wrong != want {
			t.Errorf("%s is wrong: %t, want %t", name, wrong, want)
		}
		if !strings.Contains(a.body, `aria-describedby="`+name+`-hint `+name+`-error"`) {
			t.Errorf("%s has no link to its error", name)
		}
	}
	if n := strings.Count(a.body, "autofocus"); n != 1 {
		t.Errorf("%d fields want the focus", n)
	}
	r.post("/admin/items/new", url.Values{}).want(t, http.StatusUnprocessableEntity, `href="#stock"`, `href="#price"`)
	late := good()
	late.Set("ends_at", "2030-07-01T11:59")
	r.post("/admin/items/new", late).want(t, http.StatusUnprocessableEntity, "later than the start")
	page, err := s.desk.AdminItems(context.Background(), "", 10)
	if err != nil || len(page.Rows) != 0 {
		t.Errorf("published all the same: %+v, %v", page.Rows, err)
	}
	s.reader().post("/admin/items/new", good()).want(t, http.StatusUnauthorized)
}

func TestEditByForm(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	r := s.admin()
	path, _, _ := strings.Cut(r.post("/admin/items/new", good()).want(t, http.StatusSeeOther).Header.Get("Location"), "?")
	mine := good()
	mine.Set("version", "1")
	mine.Set("title", "Blue tea pot")
	r.post(path, mine).want(t, http.StatusSeeOther)

	theirs := good()
	theirs.Set("version", "1")
	theirs.Set("title", "Green tea pot")
	r.post(path, theirs).want(t, http.StatusConflict, "Somebody else", `value="Green tea pot"`, "Now: Blue tea pot",
		`name="version" value="2"`)
	theirs.Set("version", "2")
	theirs.Set("price", "nothing")
	theirs.Set("starts_at", "")
	r.post(path, theirs).want(t, http.StatusUnprocessableEntity, `value="Green tea pot"`, `value="nothing"`, `name="version" value="2"`,
		`href="#price"`, `href="#starts_at"`)
	theirs.Set("price", "5")
	theirs.Set("starts_at", good().Get("starts_at"))
	r.post(path, theirs).want(t, http.StatusSeeOther)
	r.get(path).want(t, http.StatusOK, `value="Green tea pot"`, `value="5.00"`)
}

func TestEditOfAStartedSale(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	item := s.item("Lamp", 5)
	r := s.admin()
	path := "/admin/items/" + item.ID.String()
	r.get(path).want(t, http.StatusOK, "readonly", "Fixed, because the sale has started.")
	form := url.Values{"version": {"1"}, "title": {"Lamp II"}, "price": {"19.90"}, "currency": {"CNY"},
		"per_buyer_limit": {"2"}, "pay_within": {"900"}, "time_zone": {"Asia/Shanghai"},
		"starts_at": {item.StartsAt.Time().In(time.FixedZone("", 8*3600)).Format("2006-01-02T15:04:05")}}
	r.post(path, form).want(t, http.StatusSeeOther)
	edited, err := s.desk.AdminItem(context.Background(), item.ID)
	if err != nil || edited.Title != "Lamp II" || edited.StartsAt != item.StartsAt {
		t.Errorf("edited %+v, %v", edited, err)
	}
	form.Set("version", "2")
	form.Set("price", "9.90")
	r.post(path, form).want(t, http.StatusConflict, "price and start are fixed", `value="9.90"`)
}

func TestStockByForm(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	path := "/admin/items/" + s.item("Lamp", 5).ID.String()
	r := s.admin()
	for delta, status := range map[string]int{"": 422, "0": 422, "x": 422, "1.5": 422, "99999999999": 422, "-6": 409} {
		r.post(path+"/stock", url.Values{"delta": {delta}, "reason": {"count"}}).want(t, status,
			`id="delta" name="delta" value="`+delta+`"`, `value="count"`, `aria-invalid="true"`)
	}
	r.post(path+"/stock", url.Values{"delta": {"3"}, "reason": {"found"}}).want(t, http.StatusSeeOther)
	r.post(path+"/stock", url.Values{"delta": {"+2"}}).want(t, http.StatusSeeOther)
	r.post(path+"/stock", url.Values{"delta": {"-1"}}).want(t, http.StatusSeeOther)
	r.get(path+"?notice=stock_changed").want(t, http.StatusOK, `data-figure="available">9<`, "The stock is changed.")
}

func TestControlByForm(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	path := "/admin/items/" + s.item("Lamp", 5).ID.String()
	r := s.admin()
	r.post(path+"/pause", url.Values{}).want(t, http.StatusSeeOther)
	r.get(path).want(t, http.StatusOK, path+"/resume", `data-phase="paused"`)
	r.post(path+"/resume", url.Values{}).want(t, http.StatusSeeOther)
	r.get(path).want(t, http.StatusOK, path+"/pause", `data-phase="open"`)
	r.post(path+"/close", url.Values{}).want(t, http.StatusSeeOther)
	r.post(path+"/close", url.Values{}).want(t, http.StatusSeeOther)
	r.post(path+"/pause", url.Values{}).want(t, http.StatusConflict, "has ended")
	r.get(path).want(t, http.StatusOK, "This sale is over")
	r.get(path+"?notice=<script>").want(t, http.StatusOK)
	r.post("/admin/items/1/pause", url.Values{}).want(t, http.StatusNotFound)
}
