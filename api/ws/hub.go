// Package ws is the socket hub: it tells every open page of a buyer what happens to their ticket, and every open page
// of an item how the line moves. On connect it subscribes, then reads the state, then sends it, then events, so that
// nothing falls between. Within a socket the state comes first, a verdict never follows that of a newer ticket, and
// progress never goes back within an epoch.
//
// Messages are news, never truth. Every Settled message says which numbers it decided, so the hub knows up to which
// number it has heard every verdict. Each second it reads again how far the queues of the items with open sockets are,
// one call for all of them; a queue that is further than what was heard, or in another epoch, has its buyers looked up:
// one look in the queue for each buyer with an open socket, and SQL only for verdicts that are owed. So a lost message
// delays a verdict by little more than a second, for tickets from before and after the socket opened alike, and costs
// nothing while no message is lost.
//
// The loop that hands messages out does no I/O: whatever has to be read for an item is read by that item's own
// goroutine, so a slow read delays no other item. A frame is encoded once; a page that reads too slowly is dropped and
// comes back; only the hub closes a socket's channel.
package ws

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

const (
	// stopWait is how long sockets have to take their close at the end of Run.
	stopWait = 1500 * time.Millisecond
	// stateWait bounds the reads for one state frame.
	stateWait = 10 * time.Second
)

// Hub knows the open sockets by item and buyer. Safe for concurrent use.
type Hub struct {
	desk     *sale.Desk
	queue    queue.Queue
	log      *slog.Logger
	most     int
	base     *url.URL // nil: none
	upgrader websocket.Upgrader

	mu      sync.Mutex // before the lock of a room
	running bool
	open    int                  // sockets, also those in their handshake
	sockets map[*socket]struct{} // until their goroutines have ended
	rooms   map[model.ID]*room
	ended   sync.WaitGroup // sockets and rooms
}

// Options of New.
type Options struct {
	Desk  *sale.Desk
	Queue queue.Queue // for Now, Subscribe, Progress and Find
	Log   *slog.Logger
	// MaxSockets is how many may be open at once; beyond: 503 before the upgrade.
	MaxSockets int
	// BaseURL is an origin accepted beside the request's own host; empty for none.
	BaseURL string
}

// New makes a hub. It starts no goroutine.
func New(opt Options) *Hub {
	h := &Hub{desk: opt.Desk, queue: opt.Queue, log: opt.Log, most: opt.MaxSockets,
		sockets: map[*socket]struct{}{}, rooms: map[model.ID]*room{}}
	if base, err := url.Parse(opt.BaseURL); err == nil && base.Host != "" {
		h.base = base
	}
	h.upgrader = websocket.Upgrader{
		HandshakeTimeout: closeWait,
		ReadBufferSize:   256, // clients send pongs and closes only
		WriteBufferPool:  &sync.Pool{},
		CheckOrigin:      func(*http.Request) bool { return true }, // Serve has checked
		Error:            func(http.ResponseWriter, *http.Request, int, error) {},
	}
	return h
}

// Run hands out what the queue publishes until ctx ends; then it closes every socket with 1001 and waits for them,
// at most about two seconds. New sockets are refused before and after. It returns nil.
func (h *Hub) Run(ctx context.Context) error {
	messages := h.queue.Subscribe(ctx)
	h.mu.Lock()
	h.running = true
	h.mu.Unlock()

	var loops sync.WaitGroup
	loops.Go(func() { h.sweep(ctx) })
	h.dispatch(ctx, messages)
	h.stop()
	loops.Wait()
	return nil
}

// Serve upgrades the request and serves it until the socket ends. buyer is empty for public messages only. The item has
// to exist: the caller has checked. A refusal before the upgrade is returned as an error to show: a *model.Error of
// CodeCrossOrigin, CodeUnavailable, CodeMalformed (not a handshake); after the upgrade it returns nil.
func (h *Hub) Serve(w http.ResponseWriter, r *http.Request, item model.ID, buyer model.Buyer) error {
	if !sameOrigin(r, h.base) {
		return &model.Error{Code: model.CodeCrossOrigin, Message: "This page may not open a connection here."}
	}
	if !h.reserve() {
		return model.ErrUnavailable
	}
	defer h.release()
	// With what the answer says already: a new guest's cookie, the request's id.
	conn, err := h.upgrader.Upgrade(w, r, w.Header())
	var refused websocket.HandshakeError
	switch {
	case errors.As(err, &refused):
		return &model.Error{Code: model.CodeMalformed, Message: "This is not a WebSocket handshake."}
	case err != nil:
		return nil // the connection is gone
	}
	h.serve(r.Context(), newSocket(conn, buyer), item)
	return nil
}

// Len is the number of open sockets, those in their handshake included.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

func (h *Hub) reserve() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.running || h.open >= h.most {
		return false
	}
	h.open++
	h.ended.Add(1)
	return true
}

func (h *Hub) release() {
	h.mu.Lock()
	h.open--
	h.mu.Unlock()
	h.ended.Done()
}

// serve is a socket's life. The room hears of events from the first moment on; they wait until the state is sent.
func (h *Hub) serve(ctx context.Context, s *socket, item model.ID) {
	defer s.conn.Close()
	ctx, cancel := context.WithTimeout(ctx, stateWait)
	defer cancel()
	s.cancel = cancel
	r := h.enter(s, item)
	if r == nil {
		bye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "")
		_ = s.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(closeWait))
		return
	}
	defer h.forget(s)
	go s.writeAll()
	if st, err := h.state(ctx, item, s.buyer); err != nil {
		if ctx.Err() != context.Canceled { // else it was dropped meanwhile
			h.log.Warn("socket state not read", slog.String("item", item.String()), slog.Any("error", err))
		}
		r.drop(s, websocket.CloseTryAgainLater)
	} else {
		r.admit(s, st)
	}
	code := s.readAll()
	h.leave(s, r, code)
	s.unblock()
	<-s.written
	if code != websocket.CloseNormalClosure { // the client's breach
		s.linger()
	}
}

// enter makes s hear of the item's events. It is nil when the hub has stopped.
func (h *Hub) enter(s *socket, item model.ID) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.running {
		return nil
	}
	h.sockets[s] = struct{}{}
	r := h.rooms[item]
	if r == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r = newRoom(item, cancel)
		h.rooms[item] = r
		h.ended.Go(func() { (&teller{room: r, desk: h.desk, queue: h.queue, log: h.log}).run(ctx) })
	}
	r.enter(s)
	return r
}

// leave takes s out of its room, and ends the room with its last socket.
func (h *Hub) leave(s *socket, r *room, code int) {
	r.drop(s, code)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rooms[r.item] == r && r.empty() {
		delete(h.rooms, r.item)
		r.cancel()
	}
}

// forget ends the hub's hold on a socket that has ended.
func (h *Hub) forget(s *socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sockets, s)
}

// state reads what a page needs to start. How far the queue is comes before the buyer's ticket: a ticket that is queued
// here has a number above served, so its verdict is heard, or missed and looked up. The item's phase is by a clock not
// before readAt.
func (h *Hub) state(ctx context.Context, item model.ID, buyer model.Buyer) (st state, err error) {
	if st.readAt, err = h.queue.Now(ctx); err != nil {
		return st, err
	}
	progress, err := h.queue.Progress(ctx, item)
	if err != nil {
		return st, err
	}
	st.progress = progress[0]
	st.progress.Item = item
	if st.item, err = h.desk.Item(ctx, item); err != nil {
		return st, err
	}
	if buyer != "" {
		if st.ticket, st.order, err = h.desk.Standing(ctx, item, buyer); err != nil {
			return st, err
		}
	}
	st.now, err = h.queue.Now(ctx)
	return st, err
}

// stop closes every socket and waits until all have ended.
func (h *Hub) stop() {
	h.mu.Lock()
	h.running = false
	for _, r := range h.rooms {
		r.close()
	}
	h.mu.Unlock()

	cut := time.AfterFunc(stopWait, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for s := range h.sockets {
			s.conn.Close()
		}
	})
	h.ended.Wait()
	cut.Stop()
}

// all is the rooms of now.
func (h *Hub) all() []*room {
	h.mu.Lock()
	defer h.mu.Unlock()
	rooms := make([]*room, 0, len(h.rooms))
	for _, r := range h.rooms {
		rooms = append(rooms, r)
	}
	return rooms
}

// room is the item's room, nil where nobody listens.
func (h *Hub) room(item model.ID) *room {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rooms[item]
}
