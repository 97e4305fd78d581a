package store

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"seckill/model/store/mariadbtest"
)

// fault is what a proxy does to one statement.
type fault int

const (
	pass       fault = iota
	lose             // the statement never arrives, the connection breaks
	loseAnswer       // the statement arrives and is answered; the answer is swallowed and the connection breaks
)

// proxy stands before a server and breaks connections at statements.
type proxy struct {
	net.Listener
	target string
	// judge says what happens to a statement; it may be called at once by several connections.
	judge atomic.Pointer[func(statement string) fault]

	mu    sync.Mutex
	conns []net.Conn
}

// newProxy starts a proxy that passes everything, until it is told otherwise. It ends with the test.
func newProxy(t testing.TB, server *mariadbtest.Server) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, target: server.Addr()}
	p.set(nil)
	var running sync.WaitGroup
	running.Go(func() { p.serve(&running) })
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		for _, c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		running.Wait()
	})
	return p
}

// set changes the judge; nil passes everything.
func (p *proxy) set(judge func(statement string) fault) {
	if judge == nil {
		judge = func(string) fault { return pass }
	}
	p.judge.Store(&judge)
}

func (p *proxy) serve(running *sync.WaitGroup) {
	for {
		client, err := p.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		l := &link{proxy: p, client: client, server: server}
		running.Go(l.forth)
		running.Go(l.back)
	}
}

// link is one connection through a proxy. Statements and answers take turns.
type link struct {
	*proxy
	client, server net.Conn
	swallow        atomic.Bool // the next answer
}

func (l *link) cut() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// forth hands packets to the server: a length of three bytes, a number, then for a statement the byte 3 and its text.
func (l *link) forth() {
	defer l.cut()
	header := make([]byte, 4)
	for {
		if _, err := io.ReadFull(l.client, header); err != nil {
			return
		}
		body := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
		if _, err := io.ReadFull(l.client, body); err != nil {
			return
		}
		if len(body) > 0 && body[0] == 3 && header[3] == 0 {
			switch (*l.judge.Load())(string(body[1:])) {
			case lose:
				return
			case loseAnswer:
				l.swallow.Store(true)
			}
		}
		if _, err := l.server.Write(append(header, body...)); err != nil {
			return
		}
	}
}

// back hands answers to the client.
func (l *link) back() {
	defer l.cut()
	b := make([]byte, 1<<16)
	for {
		n, err := l.server.Read(b)
		if err != nil || l.swallow.Load() {
			return
		}
		if _, err := l.client.Write(b[:n]); err != nil {
			return
		}
	}
}
