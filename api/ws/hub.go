// Package ws is the socket hub: it tells every open page of a buyer what happens to their ticket, and every open page
// of an item how the line moves. On connect it subscribes, then reads the state, then sends it, then events, so that
// nothing falls between. Messages are news, never truth: each second the hub reads again how far the queues are and
// looks up the verdicts that it has not heard. A frame is encoded once; a page that reads too slowly is dropped and
// comes back; only the hub closes a socket's channel.
package ws

import (
	"context"
	"log/slog"
	"net/http"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

// Hub knows the open sockets by item and buyer.
type Hub struct{}

// Options of New.
type Options struct {
	Desk  *sale.Desk
	Queue queue.Queue // for Subscribe and Progress
	Log   *slog.Logger
	// MaxSockets is how many may be open at once; beyond: 503 before the upgrade.
	MaxSockets int
	// BaseURL is an origin accepted beside the request's own host; empty for none.
	BaseURL string
}

// New makes a hub. It starts no goroutine.
func New(opt Options) *Hub { panic("todo") }

// Run hands out what the queue publishes until ctx ends; then it closes every socket with 1001 and waits for them.
// New sockets are refused from then on.
func (h *Hub) Run(ctx context.Context) error { panic("todo") }

// Serve upgrades the request and serves it until the socket ends. buyer is empty for public messages only. The item has
// to exist: the caller has checked. A refusal before the upgrade is returned as an error to show: a *model.Error of
// CodeCrossOrigin, CodeUnavailable, CodeMalformed (not a handshake); after the upgrade it returns nil.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, item model.ID, buyer model.Buyer) error {
	panic("todo")
}

// Len is the number of open sockets.
func (h *Hub) Len() int { panic("todo") }
