package web

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
)

// maxBody is the most bytes of a request's body.
const maxBody = 64 << 10

// contentPolicy lets a page load only what this server serves, and pictures from anywhere over https. There is no
// inline script or style.
const contentPolicy = "default-src 'self'; img-src 'self' https: data:; object-src 'none'; base-uri 'none'; " +
	"form-action 'self'; frame-ancestors 'none'"

func securityHeaders(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// accessLog writes one line a request, at the end of it.
func (s *site) accessLog(c *gin.Context) {
	start := time.Now()
	c.Next()
	s.log.LogAttrs(c.Request.Context(), slog.LevelInfo, "request",
		slog.String("request_id", api.GetRequestID(c)),
		slog.String("method", c.Request.Method),
		slog.String("path", c.Request.URL.Path),
		slog.Int("status", c.Writer.Status()),
		slog.Int("bytes", max(c.Writer.Size(), 0)),
		slog.Duration("took", time.Since(start)),
		slog.String("peer", c.RemoteIP()))
}

// recoverPanic answers a panic as an internal error. A handler that aborts the connection on purpose goes on doing so.
func (s *site) recoverPanic(c *gin.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p)
		}
		s.log.Error("panic in a handler", "request_id", api.GetRequestID(c), "panic", p, "stack", string(debug.Stack()))
		if !c.Writer.Written() {
			s.fail(c, fmt.Errorf("panic: %v", p))
		}
		c.Abort()
	}()
	c.Next()
}

// sameOrigin refuses whatever changes something and comes from a page of another origin.
func (s *site) sameOrigin(c *gin.Context) {
	if err := s.origins.Check(c.Request); err != nil {
		s.fail(c, &model.Error{Code: model.CodeCrossOrigin, Message: "This came from a page of another site."})
		c.Abort()
	}
}

// limitBody refuses a body that is said to be too large, and cuts off one that turns out to be.
func (s *site) limitBody(c *gin.Context) {
	if c.Request.ContentLength > maxBody {
		s.fail(c, &model.Error{Code: model.CodeTooLarge, Message: "The body is larger than 64 KiB."})
		c.Abort()
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
}

// unknown answers what has no route.
func (s *site) unknown(c *gin.Context) { s.fail(c, model.ErrNotFound) }

// wrongMethod answers a route that is there for other methods.
func (s *site) wrongMethod(c *gin.Context) {
	s.fail(c, &model.Error{Code: model.CodeMethod, Message: "This address does not take that method."})
}

// fail answers an error as a problem below /api/, else as a page.
func (s *site) fail(c *gin.Context, err error) {
	if strings.HasPrefix(c.Request.URL.Path, "/api/") {
		api.Problem(c, s.log, err)
		return
	}
	s.failPage(c, err)
}
