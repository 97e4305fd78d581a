package main_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestStalledSockets: 20 sockets that read nothing stand beside 500 that do, over two instances. Every page that reads has
// its verdict within 5 s of its click.
func TestStalledSockets(t *testing.T) {
	s := openShop(t, plan{})
	it := s.admin().publish(map[string]any{"stock": 100})
	for n := range 20 {
		s.at(s.apps[n%2]).stall(it.ID, "stalled")
	}
	buyers := names("page", 500)
	pages := make([]*page, len(buyers))
	for n, id := range buyers {
		pages[n] = s.at(s.apps[n%2]).open(it.ID, id)
	}
	log := herd(t, s.program, it.ID, append(buyers, "stalled"))
	var longest time.Duration
	won, heard := 0, 0
	for n, pg := range pages {
		line := log[n]
		if line.ticket.Ticket == "" {
			line.answer.wantCode(t, http.StatusConflict, "sold_out")
			continue
		}
		got, took, ok := pg.hear(line.ticket.Ticket, line.answered, 5*time.Second)
		if !ok {
			t.Errorf("the page of %s heard nothing of its ticket within %s", line.buyer, took)
			continue
		}
		if got.Status == "won" {
			won++
		}
		longest, heard = max(longest, took), heard+1
	}
	t.Logf("%d pages heard their verdicts within %s, %d have won", heard, longest.Round(time.Millisecond), won)
	if won != 100 && won != 99 { // the stalled one may have won too
		t.Errorf("%d pages heard that they have won", won)
	}
	s.mustHold()
}

// stall opens a socket with the smallest buffer there is, and never reads from it.
func (p *program) stall(itemID, buyer string) {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(1); err != nil {
		p.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /api/v1/ws?item="+itemID+" HTTP/1.1\r\nHost: shop\r\nUpgrade: websocket\r\n"+
		"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Buyer-ID: "+
		buyer+"\r\n\r\n"); err != nil {
		p.t.Fatal(err)
	}
}
