package ws

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"seckill/model"
)

const (
	sendQueue = 32      // frames that a slow page may be behind
	maxRead   = 4 << 10 // bytes of a client's frame
	maxLinger = 1 << 20 // bytes read and thrown away after a client's breach
	// writeBuffer is the bytes that the system may hold for a page that does not read; it would hold megabytes.
	writeBuffer = 32 << 10

	pingEvery = 20 * time.Second
	pongWait  = 45 * time.Second
	writeWait = 10 * time.Second
	// closeWait is how long a client has to answer a close, and a stuck write to end after one.
	closeWait = time.Second
)

// socket is one open page. Two goroutines serve it: a reader, which is the request's own, and a writer.
type socket struct {
	conn    *websocket.Conn
	buyer   model.Buyer        // empty: public messages only
	cancel  context.CancelFunc // of the reads for the state
	code    atomic.Int32       // of the close, 0 while it is open
	read    chan struct{}      // closed when the reader has ended
	written chan struct{}      // closed when the writer has ended
	out     chan frame         // closed by the room only

	// Guarded by the room's lock.
	gone bool     // out is closed
	live bool     // the state is sent; before, events wait
	seen position // of the latest progress sent
	told position // of the latest verdict sent
	held *verdict // the latest that waits for the state
}

// verdict is a ticket's last word, encoded.
type verdict struct {
	at    position
	frame frame
}

func newSocket(conn *websocket.Conn, buyer model.Buyer) *socket {
	if raw, ok := conn.NetConn().(*net.TCPConn); ok {
		_ = raw.SetWriteBuffer(writeBuffer) // a hint
	}
	return &socket{conn: conn, buyer: buyer, cancel: func() {}, read: make(chan struct{}), written: make(chan struct{}),
		out: make(chan frame, sendQueue)}
}

// readAll reads until the connection ends; clients have nothing to say but pongs and a close. It returns the code to
// close with.
func (s *socket) readAll() int {
	defer close(s.read)
	s.conn.SetReadLimit(maxRead)
	expect := func(string) error { return s.conn.SetReadDeadline(time.Now().Add(pongWait)) }
	s.conn.SetPongHandler(expect)
	if err := expect(""); err != nil {
		return websocket.CloseNormalClosure
	}
	_, message, err := s.conn.NextReader()
	if err == nil {
		_, err = io.Copy(io.Discard, message) // too big shows only at its end, when it comes in parts
	}
	switch {
	case err == nil:
		return websocket.ClosePolicyViolation
	case errors.Is(err, websocket.ErrReadLimit):
		return websocket.CloseMessageTooBig
	}
	return websocket.CloseNormalClosure
}

// writeAll writes what comes, and pings, until the room closes out.
func (s *socket) writeAll() {
	defer close(s.written)
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var err error
		select {
		case f, open := <-s.out:
			if !open {
				s.sayClose(int(s.code.Load()))
				return
			}
			err = s.write(f)
		case <-ping.C:
			err = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait))
		}
		if err != nil {
			s.conn.Close() // ends the reader, which has the room close out
			for range s.out {
			}
			return
		}
	}
}

// write sends a frame. A socket that is closed for a reason of its own gets no more; at shutdown it gets what it had
// coming.
func (s *socket) write(f frame) error {
	if code := s.code.Load(); code != 0 && code != websocket.CloseGoingAway {
		return nil
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeWait)); err != nil {
		return err
	}
	return s.conn.WritePreparedMessage(f)
}

// sayClose sends the close and gives the client a moment to answer it.
func (s *socket) sayClose(code int) {
	answer := time.Now().Add(closeWait)
	err := s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), answer)
	if err != nil && !errors.Is(err, websocket.ErrCloseSent) {
		s.conn.Close()
		return
	}
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-s.read:
	case <-timer.C:
		s.conn.Close()
	}
}

// linger reads what a client still sends after its breach: a connection closed over unread bytes is reset, and the
// client might never see the close.
func (s *socket) linger() {
	raw := s.conn.NetConn()
	if raw.SetReadDeadline(time.Now().Add(closeWait)) == nil {
		_, _ = io.CopyN(io.Discard, raw, maxLinger)
	}
}

// unblock ends a write that is stuck, soon.
func (s *socket) unblock() { _ = s.conn.NetConn().SetWriteDeadline(time.Now().Add(closeWait)) }
