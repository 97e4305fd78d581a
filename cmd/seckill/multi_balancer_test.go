package main_test

import (
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
)

// balancer hands each connection to one of the instances by chance, and to another if that one does not answer.
type balancer struct {
	net.Listener
	running sync.WaitGroup

	mu    sync.Mutex
	urls  []string
	conns []net.Conn
}

// newBalancer starts a balancer without instances; it ends with the test.
func newBalancer(t *testing.T) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{Listener: l}
	b.running.Go(b.accept)
	t.Cleanup(func() {
		_ = l.Close()
		b.mu.Lock()
		for _, c := range b.conns {
			_ = c.Close()
		}
		b.mu.Unlock()
		b.running.Wait()
	})
	return b
}

func (b *balancer) add(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.urls = append(b.urls, url)
}

func (b *balancer) remove(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.urls = slices.DeleteFunc(b.urls, func(u string) bool { return u == url })
}

// shuffled is the instances in the order in which a connection tries them.
func (b *balancer) shuffled() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := slices.Clone(b.urls)
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func (b *balancer) accept() {
	for {
		near, err := b.Accept()
		if err != nil {
			return
		}
		b.running.Go(func() { b.carry(near) })
	}
}

func (b *balancer) carry(near net.Conn) {
	defer near.Close()
	for _, url := range b.shuffled() {
		far, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			continue
		}
		b.mu.Lock()
		b.conns = append(b.conns, near, far)
		b.mu.Unlock()
		b.running.Go(func() {
			_, _ = io.Copy(far, near)
			_ = far.Close()
		})
		_, _ = io.Copy(near, far)
		return
	}
}
