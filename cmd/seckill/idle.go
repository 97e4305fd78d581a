package main

import (
	"container/list"
	"net"
	"net/http"
	"sync"
)

// spareDescriptors are file descriptors that connections leave to everything else.
const spareDescriptors = 200

// idlers closes connections that wait for another request, the longest idle first, to make room for new ones: browsers
// keep theirs for minutes, and in a crowd those alone would use up the file descriptors. Safe for concurrent use.
type idlers struct {
	most func() int // connections, sockets not among them

	mu   sync.Mutex
	open map[net.Conn]*list.Element // where it stands in idle; nil: it is not idle
	idle *list.List                 // of net.Conn
}

func newIdlers(most func() int) *idlers {
	return &idlers{most: most, open: map[net.Conn]*list.Element{}, idle: list.New()}
}

// heed is for http.Server.ConnState.
func (i *idlers) heed(conn net.Conn, state http.ConnState) {
	i.note(conn, state)
	if state != http.StateNew {
		return
	}
	if oldest := i.surplus(i.most()); oldest != nil {
		_ = oldest.Close() // the server sees it closed, and lets it go
	}
}

func (i *idlers) note(conn net.Conn, state http.ConnState) {
	i.mu.Lock()
	defer i.mu.Unlock()
	at, known := i.open[conn]
	if at != nil {
		i.idle.Remove(at)
	}
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		delete(i.open, conn)
	case state == http.StateIdle && known:
		i.open[conn] = i.idle.PushBack(conn)
	case state == http.StateNew || known:
		i.open[conn] = nil
	}
}

// surplus takes out the longest idle connection if more than most are open; nil if there is none.
func (i *idlers) surplus(most int) net.Conn {
	i.mu.Lock()
	defer i.mu.Unlock()
	oldest := i.idle.Front()
	if len(i.open) <= most || oldest == nil {
		return nil
	}
	conn := i.idle.Remove(oldest).(net.Conn)
	delete(i.open, conn)
	return conn
}
