package ws

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"seckill/model"
)

// refused opens a socket that is refused with this code before the upgrade.
func refused(t *testing.T, s *shop, want model.Code, headers ...string) {
	t.Helper()
	conn, answer, err := s.dial(headers...)
	if err == nil {
		conn.Close()
		t.Fatalf("accepted, want %s", want)
	}
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	if string(body) != string(want) {
		t.Errorf("refused with %q, want %s", body, want)
	}
}

func TestOriginTable(t *testing.T) {
	t.Parallel()
	base, err := url.Parse("https://shop.example")
	must(t, err)
	for origin, want := range map[string]bool{
		"http://here:8080":           true,
		"https://HERE:8080":          true,
		"https://shop.example":       true,
		"https://SHOP.example":       true,
		"http://shop.example":        false,
		"https://shop.example:444":   false,
		"http://here":                false,
		"http://here:8081":           false,
		"http://here:8080.evil.test": false,
		"http://here:8080@evil.test": false,
		"http://evil.test@here:8080": false,
		"http://here:8080/":          false,
		"http://evil.test":           false,
		"null":                       false,
		"":                           false,
		"here:8080":                  false,
		"://":                        false,
	} {
		r := httptest.NewRequest(http.MethodGet, "http://here:8080/", nil)
		r.Header.Set("Origin", origin)
		if got := sameOrigin(r, base); got != want {
			t.Errorf("origin %q: %v, want %v", origin, got, want)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "http://here:8080/", nil)
	if !sameOrigin(r, nil) {
		t.Error("no origin is refused")
	}
	r.Header["Origin"] = []string{"http://here:8080", "http://evil.test"}
	if sameOrigin(r, base) {
		t.Error("two origins are accepted")
	}
}

func TestRefusalsBeforeTheUpgrade(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{most: 2, base: "https://shop.example"})
	refused(t, s, model.CodeCrossOrigin, "Origin", "http://evil.test")
	answer, err := http.Get("http" + strings.TrimPrefix(s.url, "ws"))
	must(t, err)
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); string(body) != string(model.CodeMalformed) {
		t.Errorf("no handshake: %q", body)
	}

	first := s.page("ann")
	conn, _, err := s.dial("Origin", "https://shop.example")
	must(t, err)
	defer conn.Close()
	refused(t, s, model.CodeUnavailable)
	must(t, first.conn.Close())
	eventually(t, "a place is free", func() bool { return s.hub.Len() == 1 })
	s.page("bob")

	idle := New(Options{Desk: s.desk, Queue: s.queue, Log: slog.New(slog.DiscardHandler), MaxSockets: 1})
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if err := idle.Serve(httptest.NewRecorder(), r, s.item.ID, ""); err != error(model.ErrUnavailable) {
		t.Errorf("before Run: %v", err)
	}
}

func TestClientsThatSpeakAreClosed(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	for _, c := range []struct {
		name, data string
		want       int
	}{
		{"a word", "hello", websocket.ClosePolicyViolation},
		{"4 KiB", strings.Repeat("x", 4096), websocket.ClosePolicyViolation},
		{"more", strings.Repeat("x", 4097), websocket.CloseMessageTooBig},
		{"a megabyte", strings.Repeat("x", 1<<20), websocket.CloseMessageTooBig},
	} {
		p := s.page("ann")
		_ = p.conn.WriteMessage(websocket.TextMessage, []byte(c.data))
		if got := p.closeCode(); got != c.want {
			t.Errorf("%s: closed with %d, want %d", c.name, got, c.want)
		}
	}
	p := s.page("ann")
	must(t, p.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")))
	if got := p.closeCode(); got != websocket.CloseNormalClosure {
		t.Errorf("answered a close with %d", got)
	}
	eventually(t, "all are gone", func() bool { return s.hub.Len() == 0 })
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if len(s.hub.rooms) != 0 || len(s.hub.sockets) != 0 {
		t.Errorf("%d rooms and %d sockets are left", len(s.hub.rooms), len(s.hub.sockets))
	}
}

// wire is the answer to a request that came over a bare connection.
type wire struct {
	http.ResponseWriter
	conn net.Conn
	buf  *bufio.ReadWriter
}

func (w wire) Hijack() (net.Conn, *bufio.ReadWriter, error) { return w.conn, w.buf, nil }

// pipe is a socket without a network, for a synctest bubble.
func pipe(t *testing.T) (*socket, *websocket.Conn) {
	t.Helper()
	near, far := net.Pipe()
	accepted := make(chan *socket)
	go func() {
		buf := bufio.NewReadWriter(bufio.NewReader(near), bufio.NewWriter(near))
		r, err := http.ReadRequest(buf.Reader)
		if err != nil {
			t.Error(err)
		}
		conn, err := New(Options{}).upgrader.Upgrade(wire{httptest.NewRecorder(), near, buf}, r, nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- newSocket(conn, "ann")
	}()
	dialer := websocket.Dialer{NetDial: func(string, string) (net.Conn, error) { return far, nil }}
	client, _, err := dialer.Dial("ws://shop/", nil)
	must(t, err)
	return <-accepted, client
}

func TestPingsAndSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, client := pipe(t)
		var pings int
		client.SetPingHandler(func(string) error { pings++; return nil }) // and no pong
		var reading sync.WaitGroup
		reading.Go(func() { _, _, _ = client.NextReader() })
		go s.writeAll()
		start := time.Now()
		code := s.readAll()
		took := time.Since(start)
		s.code.Store(int32(code))
		close(s.out)
		<-s.written
		s.conn.Close()
		reading.Wait()
		client.Close()
		if took != pongWait || pings != 2 {
			t.Errorf("ended after %v and %d pings", took, pings)
		}
	})
}
