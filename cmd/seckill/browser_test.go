package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is one Chromium. Every person in it has cookies of their own.
type browser struct {
	t    *testing.T
	root context.Context
}

// newBrowser starts Chromium. Without one the test is skipped, but in CI it fails.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is missing")
		}
		t.Skip("skipped: install chromium to run the browser tests")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("accept-lang", "en"), chromedp.UserDataDir(t.TempDir()))
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	root, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	if err := chromedp.Do(root); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return &browser{t, root}
}

// tab is one page of one person.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string
	told *complaints
}

// person is the first tab of somebody with no cookies, at the program's address.
func (b *browser) person(base string) *tab {
	b.t.Helper()
	return b.open(b.root, base, chromedp.WithNewBrowserContext())
}

// another is a second tab of the same person.
func (b *browser) another(of *tab) *tab {
	b.t.Helper()
	id := chromedp.FromContext(of.ctx).BrowserContextID
	return b.open(b.root, of.base, chromedp.WithExistingBrowserContext(id))
}

func (b *browser) open(parent context.Context, base string, options ...chromedp.ContextOption) *tab {
	b.t.Helper()
	p := &tab{t: b.t, base: base, told: &complaints{}}
	ctx, cancel := chromedp.NewContext(parent, append(options, chromedp.WithListener(p.told.hear))...)
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		b.t.Fatalf("open a tab: %v", err)
	}
	b.t.Cleanup(func() {
		if b.t.Failed() {
			p.keepPicture()
		}
		for _, complaint := range p.told.all() {
			b.t.Errorf("the page complained: %s", complaint)
		}
		cancel()
	})
	return p
}

// complaints collects what pages say on the console: uncaught exceptions, errors, breaches of the content policy.
type complaints struct {
	mu   sync.Mutex
	list []string
	// cutOff is set where the test itself cuts the connection: then failed connections are no complaint.
	cutOff bool
}

var (
	refusedByStatus = regexp.MustCompile(`status of 4\d\d`)
	connectionLost  = regexp.MustCompile(`net::ERR_|WebSocket connection to`)
)

func (c *complaints) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		c.add(text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" {
			c.add(fmt.Sprintf("console.error %v", e.Args))
		}
	case *log.EventEntryAdded:
		// A refused call or form is an answer that tests look at themselves.
		if e.Entry.Level == log.EntryLevelError && !refusedByStatus.MatchString(e.Entry.Text) {
			c.add(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	}
}

func (c *complaints) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.cutOff || !connectionLost.MatchString(text) {
		c.list = append(c.list, text)
	}
}

func (c *complaints) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list
}

func (c *complaints) expectCutOff() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cutOff = true
}

// keepPicture saves what the tab shows.
func (p *tab) keepPicture() {
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.t.Logf("no picture: %v", err)
		return
	}
	file, err := os.CreateTemp(p.t.ArtifactDir(), "page-*.png")
	if err != nil {
		p.t.Logf("no picture: %v", err)
		return
	}
	defer file.Close()
	if _, err := file.Write(png); err != nil {
		p.t.Logf("no picture: %v", err)
	}
	p.t.Logf("the page: %s", file.Name())
}

// do runs steps that must work, within half a minute.
func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.t.Fatalf("%v at %s", err, p.where())
	}
}

// goTo opens a page of the program.
func (p *tab) goTo(path string) { p.t.Helper(); p.do(chromedp.Navigate(p.base + path)) }

// click clicks on an element; load is click that also waits for the page that follows.
func (p *tab) click(css string) { p.t.Helper(); p.do(chromedp.Click(chromedp.CSS(css))) }

func (p *tab) load(css string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(css))); err != nil {
		p.t.Fatalf("click on %s: %v at %s", css, err, p.where())
	}
}

// fill types into a field, in place of what was there.
func (p *tab) fill(id, text string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(e => { e.focus(); e.select(); return true })(document.getElementById(%q))`, id))
	p.press(text)
}

// set writes a field's value as a picker does, for fields whose keys depend on the language.
func (p *tab) set(id, value string) {
	p.t.Helper()
	eval[bool](p, fmt.Sprintf(`(() => { const e = document.getElementById(%q); e.value = %q;
		e.dispatchEvent(new Event("input", {bubbles: true})); e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, id, value))
}

// eval is the value of a script in the page.
func eval[T any](p *tab, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 30*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%v of %s at %s", err, script, p.where())
	}
	return v
}

// text is what an element says.
func (p *tab) text(css string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf(`(document.querySelector(%q)?.textContent ?? "").trim().replace(/\s+/g, " ")`, css))
}

// until waits until a script says true; while a page loads it says nothing.
func (p *tab) until(within time.Duration, script string) {
	p.t.Helper()
	defer func() {
		if p.t.Failed() {
			p.t.Logf("at %s: %s", p.where(), p.text("main"))
		}
	}()
	eventually(p.t, within, script, func() bool {
		ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
		defer cancel()
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`!!(`+script+`)`))
		return err == nil && ok
	})
}

func (p *tab) where() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	at, err := chromedp.Run(ctx, chromedp.Location())
	if err != nil {
		return err.Error()
	}
	return strings.TrimPrefix(at, p.base)
}

// noScripts switches the page's scripts off; what the test itself asks still works.
func (p *tab) noScripts() {
	p.t.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// screen sets the size and the colour scheme, "light" or "dark".
func (p *tab) screen(width, height int64, scheme string) {
	p.t.Helper()
	p.do(chromedp.EmulateViewport(width, height))
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// call sends a command of the protocol to the tab.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 10*time.Second)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatalf("%v", err)
	}
	return r
}

// cookie is the value of a cookie for the program's address, "" for none.
func (p *tab) cookie(name string) string {
	p.t.Helper()
	for _, c := range call(p, network.GetCookies, network.GetCookiesParams{URLs: []string{p.base}}).Cookies {
		if c.Name == name {
			if !c.HTTPOnly {
				p.t.Errorf("scripts can read the cookie %s", name)
			}
			return c.Value
		}
	}
	return ""
}

// giveCookie makes this person the bearer of a cookie.
func (p *tab) giveCookie(name, value string) {
	p.t.Helper()
	call(p, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.base, HTTPOnly: ptr(true)})
}

func ptr[T any](v T) *T { return &v }

// accessible lets axe look at the page, on a phone and on a desktop, in the light and in the dark, and checks that it
// fits the width. what names the page in failures.
func (p *tab) accessible(what string) {
	p.t.Helper()
	axe, err := os.ReadFile(filepath.Join("testdata", "axe.min.js"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			p.screen(width, 844, scheme)
			if wide := eval[int64](p, `document.documentElement.scrollWidth`); wide > width {
				p.t.Errorf("%s at width %d: the page is %d wide", what, width, wide)
			}
			eval[bool](p, `Promise.allSettled(document.getAnimations().map(a => a.finished)).then(() => true)`) // colours fade
			eval[bool](p, string(axe)+"; true")
			found := eval[string](p, `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]})
				.then(r => JSON.stringify(r.violations.map(v => ({rule: v.id, help: v.help,
					nodes: v.nodes.map(n => n.html + " " + n.failureSummary)}))))`)
			var violations []struct {
				Rule, Help string
				Nodes      []string
			}
			if err := json.Unmarshal([]byte(found), &violations); err != nil {
				p.t.Fatal(err)
			}
			for _, v := range violations {
				p.t.Errorf("%s, %s at width %d: %s (%s): %.800s", what, scheme, width, v.Help, v.Rule, strings.Join(v.Nodes, "\n"))
			}
		}
	}
}

// press presses keys.
func (p *tab) press(keys string) { p.t.Helper(); p.do(chromedp.KeyEvent(keys)) }
