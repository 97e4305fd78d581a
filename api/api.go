// Package api is JSON over HTTP: one route table, one table from error codes to HTTP status, strict decoding of bodies,
// who the buyer is, and who may administer. A handler binds, calls package sale, and answers; it has no rules and no SQL.
package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/api/ws"
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

// Mount adds every route of the contract's §§3, 4, 6 that does not answer pages, and the answers to unknown routes and
// methods below /api/.
func Mount(r *gin.Engine, opt Options) { panic("todo") }

// Problem answers with an error in the form of RFC 9457 and ends the request: a *model.Error as it is, anything else
// logged and shown as one fixed sentence with the request id.
func Problem(c *gin.Context, err error) { panic("todo") }

// Status is the HTTP status of an error's code; 500 for an error that is no *model.Error.
func Status(err error) int { panic("todo") }

// RequestID is a middleware that gives each request an id, in the X-Request-ID of the answer and for the logs.
func RequestID(c *gin.Context) { panic("todo") }

// GetRequestID is the id that RequestID gave.
func GetRequestID(c *gin.Context) string { panic("todo") }
