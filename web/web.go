// Package web is the pages for shoppers and admins, and the middleware round everything; it mounts package api.
// A page is the whole purchase without JavaScript; with it, it is live. Pages stand on the same desk as the JSON calls
// and have no rules of their own; a GET changes nothing but cookies.
package web

import (
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/api/sale"
	"seckill/static"
	"seckill/templates"
)

// Options of New.
type Options struct {
	API api.Options
	// BaseURL is where the program is reached, as https://shop.example; an origin that forms may come from.
	BaseURL string
}

// New is the whole HTTP side of the program: middleware, pages, static files and the JSON API.
func New(opt Options) (http.Handler, error) {
	s, err := newSite(opt)
	if err != nil {
		return nil, fmt.Errorf("make the pages: %w", err)
	}
	engine, err := newEngine()
	if err != nil {
		return nil, err
	}
	engine.Use(api.RequestID, s.accessLog, s.recoverPanic, securityHeaders, s.sameOrigin, s.limitBody)
	api.Mount(engine, opt.API)
	engine.NoRoute(s.unknown)
	engine.NoMethod(s.wrongMethod)
	s.mount(engine)
	return engine, nil
}

// NewHealth is the HTTP side of a process that has no shop: /healthz, /readyz and /metrics. Of the options it needs Log,
// Ready and Metrics.
func NewHealth(opt api.Options) (http.Handler, error) {
	engine, err := newEngine()
	if err != nil {
		return nil, err
	}
	api.MountHealth(engine, opt)
	return engine, nil
}

func newEngine() (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("trust no proxies: %w", err)
	}
	return engine, nil
}

// site is what every page needs.
type site struct {
	desk     *sale.Desk
	identity *api.Identity
	auth     *api.Auth
	log      *slog.Logger
	origins  *http.CrossOriginProtection
	texts    *catalogue
	assets   *assets
	pages    map[string]*template.Template
}

func newSite(opt Options) (*site, error) {
	s := &site{desk: opt.API.Desk, identity: opt.API.Identity, auth: opt.API.Auth, log: opt.API.Log,
		origins: http.NewCrossOriginProtection()}
	origin, err := originOf(opt.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := s.origins.AddTrustedOrigin(origin); err != nil {
		return nil, fmt.Errorf("trust origin %s: %w", origin, err)
	}
	if s.texts, err = newCatalogue(templates.Files); err != nil {
		return nil, err
	}
	if s.assets, err = newAssets(static.Files); err != nil {
		return nil, err
	}
	if s.pages, err = parsePages(templates.Files, s.assets); err != nil {
		return nil, err
	}
	return s, nil
}

// originOf is the scheme and host of an address.
func originOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", fmt.Errorf("read base address: %w", err)
	}
	return u.Scheme + "://" + u.Host, nil
}

func (s *site) mount(engine *gin.Engine) {
	get := func(path string, h handler) {
		engine.GET(path, api.Bounded, s.page(s.read(h)))
		engine.HEAD(path, api.Bounded, s.page(s.read(h)))
	}
	post := func(path string, h handler) { engine.POST(path, api.Bounded, s.page(h)) }
	engine.GET("/static/*path", s.assets.serve)
	engine.HEAD("/static/*path", s.assets.serve)
	engine.GET("/favicon.ico", favicon)
	engine.HEAD("/favicon.ico", favicon)

	get("/", s.showItems)
	get("/items/:id", s.showItem)
	post("/items/:id/buy", s.buy)
	get("/tickets/:ticket", s.showTicket)
	get("/orders", s.showOrders)
	get("/orders/:no", s.showOrder)

	get("/login", s.showLogin)
	post("/login", s.login)
	post("/logout", s.logout)

	get("/admin", s.admin(s.showDashboard))
	get("/admin/items/new", s.admin(s.showNewItem))
	post("/admin/items/new", s.admin(s.publish))
	get("/admin/items/:id", s.admin(s.showEditItem))
	post("/admin/items/:id", s.admin(s.edit))
	post("/admin/items/:id/stock", s.admin(s.adjustStock))
	post("/admin/items/:id/pause", s.admin(s.control(s.desk.Pause, "paused")))
	post("/admin/items/:id/resume", s.admin(s.control(s.desk.Resume, "resumed")))
	post("/admin/items/:id/close", s.admin(s.control(s.desk.Close, "closed")))
}
