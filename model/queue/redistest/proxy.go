package redistest

import (
	"io"
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
	cutting  atomic.Bool
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

// CutReplies has every connection closed in place of the next reply on it, or ends that.
func (p *Proxy) CutReplies(cut bool) { p.cutting.Store(cut) }

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
		p.wg.Go(func() {
			_, _ = io.Copy(server, client)
			_ = server.Close()
		})
		p.wg.Go(func() { p.reply(client, server) })
	}
}

// reply hands replies on until they are to be cut.
func (p *Proxy) reply(client, server net.Conn) {
	defer func() {
		_ = client.Close()
		_ = server.Close()
	}()
	b := make([]byte, 64<<10)
	for {
		n, err := server.Read(b)
		if err != nil || p.cutting.Load() {
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
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
