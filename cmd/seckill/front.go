package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"seckill/api"
	"seckill/api/sale"
	"seckill/api/ws"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
	"seckill/web"
)

// front is the side of the program that browsers see: pages, calls and sockets on one address.
type front struct {
	url      string  // of the address that is listened on
	hub      *ws.Hub // nil in a worker
	http     *http.Server
	listener net.Listener
	store    *store.Store
	queue    queue.Queue
	log      *slog.Logger
	stopping atomic.Bool // not ready any more
}

// newFront takes the address and makes what will be served on it.
func newFront(s settings, db *store.Store, q queue.Queue, log *slog.Logger, metrics *prometheus.Registry) (*front, error) {
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return nil, err
	}
	f := &front{url: urlOf(listener.Addr()), listener: listener, store: db, queue: q, log: log}
	opt := api.Options{Log: log, Ready: f.ready, Metrics: promhttp.HandlerFor(metrics, promhttp.HandlerOpts{})}
	var handler http.Handler
	if s.role == roleWorker {
		handler, err = web.NewHealth(opt)
	} else {
		handler, err = f.wire(s, metrics, opt)
	}
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	f.http = &http.Server{
		Handler: handler,
		// A slow client is cut off; a socket is not, because an upgrade clears the deadlines.
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ConnState:         newIdlers(f.roomForConnections).heed,
	}
	return f, nil
}

// wire puts desk, hub, identity and pages together.
func (f *front) wire(s settings, metrics *prometheus.Registry, opt api.Options) (http.Handler, error) {
	base := cmp.Or(s.baseURL, f.url)
	secure := strings.HasPrefix(base, "https://")
	desk := sale.New(sale.Options{Store: f.store, Queue: f.queue, MAC: model.NewTicketMAC(s.secrets...), Log: f.log})
	f.hub = ws.New(ws.Options{Desk: desk, Queue: f.queue, Log: f.log, MaxSockets: s.maxSockets, BaseURL: base})
	metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "seckill_sockets", Help: "Open sockets."},
		func() float64 { return float64(f.hub.Len()) }))
	opt.Desk, opt.Hub = desk, f.hub
	opt.Identity = api.NewIdentity(api.IdentityOptions{Mode: s.buyers, Secrets: s.secrets, Trusted: s.trusted, Secure: secure})
	opt.Auth = api.NewAuth(api.AuthOptions{Store: f.store, Log: f.log, Token: s.adminToken, Secure: secure})
	return web.New(web.Options{BaseURL: base, API: opt})
}

// roomForConnections is how many connections the sockets leave file descriptors for.
func (f *front) roomForConnections() int {
	room := int(min(descriptors(), math.MaxInt32)) - spareDescriptors
	if f.hub != nil { // a worker has none
		room -= f.hub.Len()
	}
	return room
}

// serve answers until drain.
func (f *front) serve(context.Context) error {
	if err := f.http.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// drain takes no more requests and lets those under way finish for a while.
func (f *front) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	if err := f.http.Shutdown(ctx); err != nil {
		f.log.Warn("requests cut off", "error", errors.Join(err, f.http.Close()))
	}
}

// ready checks what the program needs to be of use, side by side: one part that hangs says nothing of the other.
func (f *front) ready(ctx context.Context) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	asked := make(chan error, 1)
	go func() {
		_, err := f.queue.Now(ctx)
		asked <- err
	}()
	checks := map[string]error{"sql": f.store.Ping(ctx), "queue": <-asked}
	if f.stopping.Load() {
		checks["queue"] = errStopping
	}
	return checks
}

// urlOf is where a browser on this machine finds an address that is listened on.
func urlOf(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return fmt.Sprintf("http://%s", addr)
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// newMetrics is the registry of the program, with what Go and the process say of themselves.
func newMetrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}
