package main_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestBrowserFormErrors: a wrong form comes back with every reason beside its field, all that was typed still there,
// the focus on the first wrong field, with and without scripts.
func TestBrowserFormErrors(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	for _, scripts := range []bool{true, false} {
		admin := b.person(p.url)
		if !scripts {
			admin.noScripts()
		}
		admin.logIn()
		admin.goTo("/admin/items/new")
		typed := map[string]string{"title": `Kettle "A" <b>`, "description": "First line\nsecond", "price": "19.905", "stock": "-3",
			"per_buyer_limit": "0", "image_url": "javascript:alert(1)", "pay_within": "600", "time_zone": "Europe/Berlin"}
		for id, text := range typed {
			admin.fill(id, text)
		}
		admin.set("starts_at", "2030-01-02T03:04")
		admin.set("ends_at", "2029-01-02T03:04")
		admin.load(`#item-form button[type="submit"]`)

		admin.until(10*time.Second, `document.querySelector("[aria-invalid=true]")`)
		for id, text := range typed {
			if got := eval[string](admin, fmt.Sprintf(`document.getElementById(%q).value`, id)); got != text {
				t.Errorf("%s was typed as %q and came back as %q", id, text, got)
			}
		}
		if got := eval[string](admin, `document.getElementById("starts_at").value`); !strings.HasPrefix(got, "2030-01-02T03:04") {
			t.Errorf("starts_at came back as %q", got)
		}
		for _, id := range []string{"image_url", "price", "stock", "per_buyer_limit", "ends_at"} {
			admin.mustExplain(id)
		}
		if got := admin.text("#title-error") + admin.text("#description-error"); got != "" {
			t.Errorf("fields that are right have the reasons %q", got)
		}
		admin.until(5*time.Second, `document.activeElement.id === "image_url"`)
		if scripts {
			admin.accessible("form with errors")
		}
	}
	if items := decode[struct{ Items []item }](t, p.admin().get("/api/v1/admin/items")); len(items.Items) != 0 {
		t.Errorf("a wrong form published %+v", items.Items)
	}
}

// mustExplain checks that a field has its reason beside it, linked for those who hear the page.
func (p *tab) mustExplain(id string) {
	p.t.Helper()
	if p.text("#"+id+"-error") == "" {
		p.t.Errorf("%s: no reason", id)
	}
	linked := fmt.Sprintf(`(e => e.getAttribute("aria-invalid") === "true" &&
		(e.getAttribute("aria-describedby") ?? "").split(" ").includes(%q))(document.getElementById(%q))`, id+"-error", id)
	if !eval[bool](p, linked) {
		p.t.Errorf("%s: the reason is not linked", id)
	}
}

// TestBrowserPages: every page, in each of its states, is accessible and fits a phone and a desktop, in the light and in
// the dark.
func TestBrowserPages(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	admin, shopper := b.person(p.url), b.person(p.url)
	api := p.admin()
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	items := map[string]string{}
	for state, fields := range map[string]map[string]any{
		"open":     {"per_buyer_limit": 3, "description": "Long text.\n\n" + strings.Repeat("word ", 200), "ends_at": tomorrow},
		"upcoming": {"starts_at": tomorrow}, "sold out": {"stock": 0}, "paused": nil, "ended": nil,
		"odd": {"title": strings.Repeat("W", 200), "image_url": "/static/logo.svg"},
	} {
		items[state] = api.publish(fields).ID
	}
	api.act(items["paused"], "pause")
	api.act(items["ended"], "close")

	shopper.goTo("/")
	shopper.accessible("list")
	for state, id := range items {
		shopper.goTo("/items/" + id)
		shopper.accessible("item that is " + state)
	}
	shopper.goTo("/items/" + items["open"])
	shopper.until(10*time.Second, `!document.querySelector("#buy").disabled`)
	shopper.click("#buy")
	shopper.status(10*time.Second, "won")
	shopper.accessible("item that was bought")
	shopper.goTo("/tickets/" + eval[string](shopper, `document.querySelector("#sale").dataset.ticket`))
	shopper.accessible("ticket that won")
	shopper.goTo("/orders")
	shopper.accessible("orders")
	shopper.load(`main a[href^="/orders/"]`)
	shopper.accessible("order")
	for _, path := range []string{"/login", "/nothing", "/orders?after="} {
		shopper.goTo(path)
		shopper.accessible(path)
	}

	admin.logIn()
	for _, path := range []string{"/admin", "/admin/items/new", "/admin/items/" + items["open"], "/admin/items/" + items["ended"]} {
		admin.goTo(path)
		admin.accessible(path)
	}
}

// TestBrowserKeyboard: the purchase works with nothing but the keyboard, and the focus can be seen.
func TestBrowserKeyboard(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	id := p.admin().publish(nil).ID
	shopper := b.person(p.url)
	shopper.goTo("/items/" + id)
	shopper.until(10*time.Second, `!document.querySelector("#buy").disabled`)
	for range 30 {
		shopper.press("\t")
		if !eval[bool](shopper, `(s => s.outlineStyle !== "none" && s.outlineWidth !== "0px" || s.boxShadow !== "none")(getComputedStyle(document.activeElement))`) {
			t.Errorf("the focus on %s can not be seen", eval[string](shopper, `document.activeElement.outerHTML.slice(0, 120)`))
		}
		if eval[bool](shopper, `document.activeElement.id === "buy"`) {
			break
		}
	}
	shopper.press("\r")
	shopper.status(10*time.Second, "won")
}
