package mariadbtest

import (
	"sync"
	"testing"
)

// Shared is one server for all tests of a test binary, started by the first that asks. The zero value has the usual
// options. TestMain stops it.
type Shared struct {
	Options []string // further ones of mariadbd

	once   sync.Once
	server *Server
	err    error
}

// Server is the running server. It is not to be killed or frozen: others are working on it.
func (s *Shared) Server(t testing.TB) *Server {
	t.Helper()
	need(t)
	s.once.Do(func() { s.server, s.err = start(memoryDir(), s.Options) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.server
}

// Stop ends the server, if it was ever started.
func (s *Shared) Stop() {
	if s.server != nil {
		s.server.stop()
	}
}
