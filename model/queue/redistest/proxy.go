package redistest

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy stands between a client and a server, and can lose the server's replies: what was sent is done, and nobody hears
// of it.
type Proxy struct {
	listener net.Listener
	to       string
	cut      atomic.Pointer[string]
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// NewProxy starts a proxy to the address to; it ends with the test.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, to: to}
	p.wg.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// CutReplies has a connection closed in place of the reply to what has the text in it. An empty text ends that.
func (p *Proxy) CutReplies(text string) { p.cut.Store(&text) }

// cuts reports whether the reply to what was sent is to be cut.
func (p *Proxy) cuts(sent []byte) bool {
	text := p.cut.Load()
	return text != nil && *text != "" && bytes.Contains(bytes.ToLower(sent), bytes.ToLower([]byte(*text)))
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, client, server)
		p.mu.Unlock()
		cut := new(atomic.Bool)
		p.wg.Go(func() {
			pass(server, client, func(sent []byte) bool {
				cut.Store(p.cuts(sent))
				return true
			})
		})
		p.wg.Go(func() {
			pass(client, server, func([]byte) bool { return !cut.Load() })
		})
	}
}

// pass hands on what comes from one side to the other while look allows it, and closes both then.
func pass(to, from net.Conn, look func([]byte) bool) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		if err != nil || !look(b[:n]) {
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
}
