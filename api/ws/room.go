package ws

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gorilla/websocket"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

// maxTold bounds the verdicts that wait for a room's teller; beyond, it looks everybody's up.
const maxTold = 10_000

// room is the open sockets of one item and what is known of it. It does no I/O; its [teller] does.
type room struct {
	item   model.ID
	cancel context.CancelFunc // ends the teller
	wake   chan struct{}      // there are chores

	mu       sync.Mutex
	sockets  map[*socket]struct{}
	parties  map[model.Buyer]*party
	progress queue.Progress // the latest known
	sent     queue.Progress // the latest handed out, with its frame
	sentAs   frame
	heard    position // the highest number whose verdict was heard
	behind   position // what the last sweep saw beyond heard
	view     sale.ItemView
	readAt   model.Instant // the gate's clock before view was read
	version  int64         // the highest one the item was read for
	stale    bool          // the item is to be read, at the next beat
	resend   bool          // and to be sent, even if it is as before
	doubt    bool          // something was not heard or not read; all is to be read again, at the next sweep
	chores   chores
}

// party is a buyer's sockets.
type party struct {
	sockets []*socket
	// waiting is the buyer's newest undecided ticket that is known; Seq is 0 for none.
	waiting model.Ticket
}

// chores is what a teller has to do.
type chores struct {
	told []queue.Told
	item bool // read the item
	look bool // look up the verdicts of every buyer
}

func newRoom(item model.ID, cancel context.CancelFunc) *room {
	return &room{item: item, cancel: cancel, wake: make(chan struct{}, 1),
		sockets: map[*socket]struct{}{}, parties: map[model.Buyer]*party{}}
}

// enter adds a socket whose state is still to be read; its events wait.
func (r *room) enter(s *socket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sockets[s] = struct{}{}
	if s.buyer == "" {
		return
	}
	p := r.parties[s.buyer]
	if p == nil {
		p = &party{}
		r.parties[s.buyer] = p
	}
	p.sockets = append(p.sockets, s)
}

// admit sends the state, then what has come in since the socket entered and is newer.
func (r *room) admit(s *socket, st state) {
	first := st.frame()
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.gone {
		return
	}
	s.live = true
	s.told, s.seen = st.told(), servedOf(st.progress)
	r.send(s, first)
	if p := r.parties[s.buyer]; p != nil && st.ticket != nil && st.ticket.Undecided() {
		p.await(model.Ticket{Item: r.item, Epoch: st.ticket.Epoch, Seq: st.ticket.Seq, Quantity: st.ticket.Quantity, Buyer: s.buyer})
	}
	r.compare(st)
	r.learn(st.progress)
	if r.heard.epoch == 0 {
		r.heard = s.seen
	}
	if r.sentAs != nil && !servedOf(r.sent).before(s.seen) && shown(r.sent) != shown(st.progress) {
		r.sendProgress(s)
	}
	if s.held != nil {
		r.tell(s, *s.held)
	}
}

// compare holds a state's item against the one that was handed out last. Which of two different ones is newer is not
// known: the item is read again, and sent to all.
func (r *room) compare(st state) {
	switch {
	case r.view.ID == 0:
		r.view, r.readAt, r.version = st.item, st.readAt, st.progress.Version
		if r.sentAs == nil {
			r.sent, r.sentAs = st.progress, progressFrame(st.progress)
		}
	case differs(r.view, st.item):
		r.stale, r.resend = true, true
	}
}

// drop closes a socket; the first code counts.
func (r *room) drop(s *socket, code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropLocked(s, code)
}

func (r *room) dropLocked(s *socket, code int) {
	if s.gone {
		return
	}
	s.gone = true
	s.code.Store(int32(code))
	s.cancel()
	delete(r.sockets, s)
	if p := r.parties[s.buyer]; p != nil {
		p.sockets = slices.DeleteFunc(p.sockets, func(other *socket) bool { return other == s })
		if len(p.sockets) == 0 {
			delete(r.parties, s.buyer)
		}
	}
	close(s.out)
}

// close drops all sockets: the program stops.
func (r *room) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sockets {
		r.dropLocked(s, websocket.CloseGoingAway)
	}
}

func (r *room) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sockets) == 0
}

// buyers is who is here.
func (r *room) buyers() []model.Buyer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.parties))
}

// waiting is the ticket that a buyer is known to wait for; its Seq is 0 for none.
func (r *room) waiting(buyer model.Buyer) model.Ticket {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.parties[buyer]; p != nil {
		return p.waiting
	}
	return model.Ticket{}
}

// await notes the ticket that a buyer waits for.
func (r *room) await(t model.Ticket) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.parties[t.Buyer]; p != nil {
		p.await(t)
	}
}

func (p *party) await(t model.Ticket) {
	if positionOf(p.waiting).before(positionOf(t)) {
		p.waiting = t
	}
}

// owes reports whether a socket of the buyer has not been told of a verdict at this position, or of a later one.
func (r *room) owes(buyer model.Buyer, at position) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.parties[buyer]
	return p != nil && slices.ContainsFunc(p.sockets, func(s *socket) bool { return s.told.before(at) })
}

// deliver tells all sockets of a buyer a verdict.
func (r *room) deliver(buyer model.Buyer, t sale.TicketView) {
	v := verdict{viewPosition(t), verdictFrame(t)}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.parties[buyer]
	if p == nil {
		return
	}
	if !v.at.before(positionOf(p.waiting)) {
		p.waiting = model.Ticket{}
	}
	for _, s := range slices.Clone(p.sockets) {
		r.tell(s, v)
	}
}

// tell sends a verdict, or keeps it until the state is sent. Of several the newest ticket's counts.
func (r *room) tell(s *socket, v verdict) {
	switch {
	case !s.live:
		if s.held == nil || s.held.at.before(v.at) {
			s.held = &v
		}
	case s.told.before(v.at):
		s.told = v.at
		r.send(s, v.frame)
	}
}

func (r *room) sendProgress(s *socket) {
	s.seen = servedOf(r.sent)
	r.send(s, r.sentAs)
}

// send queues a frame; a socket whose queue is full is dropped.
func (r *room) send(s *socket, f frame) {
	if s.gone {
		return
	}
	select {
	case s.out <- f:
	default:
		r.dropLocked(s, websocket.CloseTryAgainLater)
		s.unblock()
	}
}
