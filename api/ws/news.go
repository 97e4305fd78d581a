package ws

import (
	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

// settled takes a batch's verdicts: those of buyers who are here. A batch that does not follow on what was heard before
// shows that one was lost on the way.
func (r *room) settled(m queue.Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := m.Progress.Served + 1
	for _, t := range m.Told {
		if t.Ticket.Seq > 0 {
			first = min(first, t.Ticket.Seq)
		}
		if r.parties[t.Ticket.Buyer] != nil {
			r.chores.told = append(r.chores.told, t)
		}
	}
	if m.Progress.Epoch != r.heard.epoch || first > r.heard.seq+1 {
		r.doubt = true
	}
	if at := servedOf(m.Progress); r.heard.before(at) {
		r.heard = at
	}
	if len(r.chores.told) > maxTold {
		r.chores.told, r.chores.look = nil, true
	}
	if len(r.chores.told) > 0 || r.chores.look {
		r.nudge()
	}
	r.learn(m.Progress)
}

// changed has the item read again.
func (r *room) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stale = true
}

// missed has everything read again, at once.
func (r *room) missed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.chores.item, r.chores.look = true, true
	r.nudge()
}

// learn takes note of how far the queue is, unless it knows better.
func (r *room) learn(p queue.Progress) {
	if p.Epoch == 0 || !newer(p, r.progress) {
		return
	}
	r.progress = p
	if (p.Available > 0) != (r.view.Available > 0) {
		r.stale = true // the phase may have changed
	}
}

// sweep notes how far the queue is. What is not heard a beat later was lost on the way.
func (r *room) sweep(p queue.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(p)
	if p.Version > r.version {
		r.version, r.stale = p.Version, true
	}
	if at := servedOf(p); p.Epoch != 0 && r.heard.before(at) {
		r.behind = at
	}
	if r.doubt {
		r.doubt = false
		r.chores.item, r.chores.look = true, true
		r.nudge()
	}
}

// beat sends progress if there is some, and has the teller read a stale item.
func (r *room) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stale {
		r.stale, r.chores.item = false, true
		r.nudge()
	}
	if shown(r.progress) == shown(r.sent) {
		return
	}
	r.sent, r.sentAs = r.progress, progressFrame(r.progress)
	for s := range r.sockets {
		if s.live && !servedOf(r.sent).before(s.seen) {
			r.sendProgress(s)
		}
	}
}

// clock has the item read again when its start or its end has come by now, and verdicts looked up that were not heard.
func (r *room) clock(now model.Instant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, edge := range [...]model.Instant{r.view.StartsAt, r.view.EndsAt} {
		if r.readAt < edge && edge <= now {
			r.stale = true
		}
	}
	if r.heard.before(r.behind) {
		r.heard, r.chores.look = r.behind, true
		r.nudge()
	}
}

// take hands the chores to the teller.
func (r *room) take() chores {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.chores
	r.chores = chores{}
	return c
}

func (r *room) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// failed has all read again at the next sweep.
func (r *room) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.doubt = true
}

// refresh takes an item read after readAt, and sends it if phase or stock, or what the page shows of it, has changed.
// Units that come and go alone are told by progress.
func (r *room) refresh(item sale.ItemView, readAt model.Instant) {
	r.mu.Lock()
	resend := r.resend || differs(item, r.view)
	r.view, r.readAt, r.resend = item, readAt, false
	r.mu.Unlock()
	if !resend {
		return
	}
	f := itemFrame(item)
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.sockets {
		if s.live {
			r.send(s, f)
		}
	}
}

// newer reports whether p is of a later moment than known, as far as that can be told.
func newer(p, known queue.Progress) bool {
	if servedOf(p) != servedOf(known) {
		return servedOf(known).before(servedOf(p))
	}
	return p.Seq >= known.Seq && p.Version >= known.Version
}

// shown is what pages see of progress.
func shown(p queue.Progress) queue.Progress {
	return queue.Progress{Epoch: p.Epoch, Served: p.Served, Queued: p.Queued, Available: p.Available}
}

// differs compares all that an item frame is sent for.
func differs(a, b sale.ItemView) bool {
	a.Available = b.Available
	return a != b
}
