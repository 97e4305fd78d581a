// Package api is JSON over HTTP: one route table, one table from error codes to HTTP status, strict decoding of bodies,
// who the buyer is, and who may administer. A handler binds, calls package sale, and answers; it has no rules and no SQL.
package api

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/api/ws"
	"seckill/model"
)

// Options of Mount; all are required.
type Options struct {
	Desk     *sale.Desk
	Hub      *ws.Hub
	Identity *Identity
	Auth     *Auth
	Log      *slog.Logger
	// Ready checks each part that the program needs, by its public name ("sql", "queue"); a nil error is a good one.
	Ready func(ctx context.Context) map[string]error
	// Metrics answers /metrics.
	Metrics http.Handler
}

// calls is what the handlers need.
type calls struct{ Options }

// Mount adds every route of Routes, HEAD wherever there is a GET, and the answers to unknown routes and methods below
// /api/. It sets the engine to tell wrong methods from unknown routes and not to redirect. Recovering from panics is
// left to the caller.
func Mount(r *gin.Engine, opt Options) {
	r.HandleMethodNotAllowed = true
	r.RedirectTrailingSlash = false
	s := &calls{opt}
	r.Use(RequestID, s.unknown)
	for _, route := range Routes() {
		var handlers gin.HandlersChain
		if !route.Unbounded {
			handlers = append(handlers, Bounded)
		}
		if route.Admin {
			handlers = append(handlers, s.admin)
		}
		handlers = append(handlers, s.answer(route.handle))
		r.Handle(route.Method, route.Path, handlers...)
		if route.Method == http.MethodGet && !route.Socket {
			r.HEAD(route.Path, handlers...)
		}
	}
}

// MountHealth adds only the routes that tell of the process. Of the options they need Log, Ready and Metrics.
func MountHealth(r *gin.Engine, opt Options) {
	s := &calls{opt}
	r.Use(RequestID)
	for _, route := range Routes() {
		if route.Health {
			r.GET(route.Path, s.answer(route.handle))
			r.HEAD(route.Path, s.answer(route.handle))
		}
	}
	r.NoRoute(func(c *gin.Context) { s.problem(c, model.ErrNotFound, nil) })
}

// unknown answers requests below /api/ that no route takes.
func (s *calls) unknown(c *gin.Context) {
	if c.FullPath() != "" || !strings.HasPrefix(c.Request.URL.Path, "/api/") {
		return
	}
	if c.Writer.Status() == http.StatusMethodNotAllowed {
		s.problem(c, &model.Error{Code: model.CodeMethod, Message: "This address does not take that method."}, nil)
		return
	}
	s.problem(c, model.ErrNotFound, nil)
}

// answerTime is how long a request may wait for its answer. Whoever is asked and does not answer in it is away.
const answerTime = 5 * time.Second

// Bounded is a middleware that ends what a request waits for after five seconds.
func Bounded(c *gin.Context) {
	ctx, cancel := context.WithTimeout(c.Request.Context(), answerTime)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// admin lets admins through.
func (s *calls) admin(c *gin.Context) {
	if err := s.Auth.Admin(c); err != nil {
		s.problem(c, err, nil)
	}
}

// handler binds, calls and answers; a returned error is answered as a problem.
type handler func(*calls, *gin.Context) error

// Header values that many answers share. Nobody writes to them.
var (
	noStore     = []string{"no-store"}
	typeJSON    = []string{"application/json; charset=utf-8"}
	typeProblem = []string{"application/problem+json"}
)

func (s *calls) answer(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Writer.Header()["Cache-Control"] = noStore
		if err := h(s, c); err != nil {
			s.problem(c, err, nil)
		}
	}
}
