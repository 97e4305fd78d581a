package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// With room for four connections, twenty clients that keep theirs are all served, each on a connection of its own: the
// longest idle ones make room, and one that is busy does not.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	const most = 4
	idle := newIdlers(func() int { return most })
	entered, leave := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/busy" {
			close(entered)
			<-leave
		}
		_, _ = io.WriteString(w, r.RemoteAddr)
	}))
	server.Config.ConnState = idle.heed
	server.Start()
	t.Cleanup(server.Close)
	client := func() *http.Client {
		tr := &http.Transport{}
		t.Cleanup(tr.CloseIdleConnections)
		return &http.Client{Transport: tr}
	}
	ask := func(c *http.Client, path string) string {
		res, err := c.Get(server.URL + path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return ""
		}
		defer res.Body.Close()
		peer, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", path, res.StatusCode, err)
		}
		return string(peer)
	}

	busy := make(chan string)
	go func() { busy <- ask(client(), "/busy") }()
	<-entered
	clients, peers := make([]*http.Client, 20), make([]string, 20)
	for n := range clients {
		clients[n] = client()
		peers[n] = ask(clients[n], "/")
	}
	idle.mu.Lock()
	if n := len(idle.open); n > most {
		t.Errorf("%d connections are open", n)
	}
	idle.mu.Unlock()
	close(leave)
	if <-busy == "" {
		t.Error("the busy one was cut off")
	}
	if last := len(clients) - 1; ask(clients[last], "/") != peers[last] {
		t.Error("the latest had to connect anew")
	}
	if ask(clients[0], "/") == peers[0] {
		t.Error("the first one's connection was kept")
	}
}
