package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// startShop runs the program for guests with cookies, as a shop does.
func startShop(t *testing.T) *program {
	t.Helper()
	p := newProgram(t, "--admin-token", adminToken, "--admin-password", adminPassword, "--demo=false")
	p.launch()
	return p
}

// logIn goes through the login page.
func (p *tab) logIn() {
	p.t.Helper()
	p.goTo("/login")
	p.fill("name", "admin")
	p.fill("password", adminPassword)
	p.load(`main button[type="submit"]`)
	p.until(10*time.Second, `location.pathname === "/admin"`)
}

// publish fills the form for a new item that opens at a moment, and returns its id.
func (p *tab) publish(title string, opens time.Time) string {
	p.t.Helper()
	p.goTo("/admin/items/new")
	p.fill("title", title)
	p.fill("description", "Holds water.")
	p.fill("price", "19.90")
	p.fill("stock", "5")
	p.fill("time_zone", "Asia/Shanghai")
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		p.t.Fatal(err)
	}
	p.set("starts_at", opens.In(zone).Format("2006-01-02T15:04:05"))
	p.load(`#item-form button[type="submit"]`)
	p.until(10*time.Second, `/^\/admin\/items\/\d+$/.test(location.pathname)`)
	return strings.TrimPrefix(eval[string](p, "location.pathname"), "/admin/items/")
}

// status waits until the sale's element has this status.
func (p *tab) status(within time.Duration, status string) {
	p.t.Helper()
	p.until(within, fmt.Sprintf(`document.querySelector("#sale")?.dataset.status === %q`, status))
}

// TestBrowserSale: an admin publishes through the form; a shopper watches the countdown, buys at zero, and has the
// verdict without touching the page, again after a reload, in a second tab, among the orders, and on another device.
func TestBrowserSale(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	admin, shopper := b.person(p.url), b.person(p.url)
	admin.logIn()
	opens := time.Now().Add(8 * time.Second).Truncate(time.Second)
	id := admin.publish("Copper kettle", opens)
	if got := p.admin().item(id); millis(t, got.StartsAt) != opens.UnixMilli() || got.Stock != 5 {
		t.Errorf("published %+v, want one that opens at %s", got, opens.UTC())
	}

	shopper.goTo("/")
	if list := shopper.text("main"); !strings.Contains(list, "Copper kettle") || !strings.Contains(list, "19.90") {
		t.Errorf("the list says %q", list)
	}
	shopper.load(`a[href="/items/` + id + `"]`)
	shopper.until(5*time.Second, `/\d/.test(document.querySelector("#countdown").textContent)`)
	first := shopper.text("#countdown")
	shopper.until(5*time.Second, fmt.Sprintf(`document.querySelector("#countdown").textContent.trim() !== %q`, first))
	if !eval[bool](shopper, `document.querySelector("#buy").disabled`) {
		t.Error("Buy is armed before the start")
	}
	eval[bool](shopper, `window.untouched = true`)
	shopper.until(15*time.Second, `!document.querySelector("#buy").disabled`)
	if early := time.Until(opens); early > 150*time.Millisecond {
		t.Errorf("Buy was armed %s before the start", early)
	}
	shopper.click("#buy")
	shopper.status(10*time.Second, "won")
	if !eval[bool](shopper, `window.untouched === true`) {
		t.Error("the page was loaded anew between the click and the verdict")
	}
	no := eval[string](shopper, `document.querySelector("#sale").dataset.order`)

	shopper.goTo("/items/" + id)
	shopper.status(10*time.Second, "won")
	second := b.another(shopper)
	second.goTo("/items/" + id)
	second.status(10*time.Second, "won")
	second.goTo("/orders")
	second.load(`a[href="/orders/` + no + `"]`)
	if page := second.text("main"); !strings.Contains(page, "Copper kettle") || !strings.Contains(page, "19.90") || !strings.Contains(page, no) {
		t.Errorf("the order's page says %q", page)
	}

	device := b.person(p.url)
	device.giveCookie("seckill_buyer", shopper.cookie("seckill_buyer"))
	device.goTo("/items/" + id)
	device.status(10*time.Second, "won")
	stranger := b.person(p.url)
	stranger.goTo("/orders/" + no)
	if page := stranger.text("main"); strings.Contains(page, "Copper kettle") {
		t.Errorf("a stranger sees the order: %q", page)
	}
	p.mustHold()
}

// TestBrowserWithoutScripts: the whole purchase works without scripts, by forms and a page that refreshes itself.
func TestBrowserWithoutScripts(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	admin, shopper := b.person(p.url), b.person(p.url)
	admin.noScripts()
	shopper.noScripts()
	admin.logIn()
	id := admin.publish("Plain kettle", time.Now().Add(6*time.Second).Truncate(time.Second))

	shopper.goTo("/items/" + id)
	shopper.until(20*time.Second, `document.querySelector("#buy") && !document.querySelector("#buy").disabled`)
	shopper.load("#buy")
	shopper.until(10*time.Second, `location.pathname.startsWith("/tickets/")`)
	shopper.status(10*time.Second, "won")
	no := eval[string](shopper, `document.querySelector("#sale").dataset.order`)
	shopper.goTo("/orders")
	shopper.load(`a[href="/orders/` + no + `"]`)
	if page := shopper.text("main"); !strings.Contains(page, "Plain kettle") {
		t.Errorf("the order's page says %q", page)
	}
	shopper.goTo("/items/" + id)
	shopper.status(5*time.Second, "won")

	admin.goTo("/admin/items/" + id)
	admin.load(`form[action$="/pause"] button`)
	if got := p.admin().item(id).Phase; got != "paused" {
		t.Errorf("after Pause the item is %q", got)
	}
	p.mustHold()
}

// TestBrowserWaits: a shopper in a paused line sees their place, loses the connection, and has the verdict when it is
// back, in every tab, without touching a page.
func TestBrowserWaits(t *testing.T) {
	t.Parallel()
	b, p := newBrowser(t), startShop(t)
	wire := newWire(t, p.url)
	shopper := b.person(wire.url)
	shopper.told.expectCutOff()
	shopper.goTo("/")
	shopper.until(5*time.Second, `document.readyState === "complete"`)
	cookie := shopper.cookie("seckill_buyer")
	if cookie == "" {
		t.Fatal("a page gave no cookie")
	}

	id := p.holdGuest(cookie)
	shopper.goTo("/items/" + id)
	shopper.status(10*time.Second, "queued")
	second := b.another(shopper)
	second.told.expectCutOff()
	second.goTo("/items/" + id)
	second.status(10*time.Second, "queued")
	if shopper.text(`[role="status"]`) == "" {
		t.Error("nothing tells the shopper about the place in line")
	}
	eval[bool](shopper, `window.untouched = true`)

	wire.cut()
	p.admin().act(id, "resume")
	eventually(t, 20*time.Second, "the line is empty", func() bool { return p.admin().item(id).Queued == 0 })
	wire.mend()
	for _, page := range []*tab{shopper, second} {
		page.until(30*time.Second, `["won", "sold_out"].includes(document.querySelector("#sale").dataset.status)`)
	}
	if !eval[bool](shopper, `window.untouched === true`) {
		t.Error("the page was loaded anew")
	}
	p.mustHold()
}

// holdGuest gets the bearer of the cookie into a paused line, and returns the item.
func (p *program) holdGuest(cookie string) (itemID string) {
	p.t.Helper()
	admin := p.admin()
	for range 20 {
		itemID = admin.publish(map[string]any{"stock": 700}).ID
		log, told := p.rush(itemID, 1000)
		for range 100 {
			<-told
		}
		buyer := p.client(nil, "Cookie", "seckill_buyer="+cookie)
		a := buyer.buy(itemID, 0)
		admin.act(itemID, "pause")
		log()
		a.want(p.t, http.StatusAccepted)
		got := buyer.get("/api/v1/tickets/" + decode[ticket](p.t, a).Ticket)
		if decode[ticket](p.t, got).Status == "queued" {
			return itemID
		}
	}
	p.t.Fatal("no pause has caught the buyer in line")
	return ""
}

// wire carries connections to the program, until it is cut.
type wire struct {
	t   *testing.T
	url string
	to  string

	mu    sync.Mutex
	down  bool
	conns map[net.Conn]bool
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, url: "http://" + listener.Addr().String(), to: strings.TrimPrefix(to, "http://"), conns: map[net.Conn]bool{}}
	var carried sync.WaitGroup
	carried.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			carried.Go(func() { w.carry(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		w.cut()
		carried.Wait()
	})
	return w
}

// carry copies both ways until either end, or the wire, is cut.
func (w *wire) carry(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer far.Close()
	if !w.keep(near, far) {
		return
	}
	defer w.drop(near, far)
	done := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			done <- struct{}{}
		}()
	}
	<-done
	_, _ = near.Close(), far.Close()
	<-done
}

func (w *wire) keep(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = true
	}
	return !w.down
}

func (w *wire) drop(conns ...net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		delete(w.conns, conn)
	}
}

// cut ends every connection and lets no new one through.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = true
	for conn := range w.conns {
		_ = conn.Close()
	}
}

// mend lets connections through again.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = false
}
