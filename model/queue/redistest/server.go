// Package redistest starts Redis servers for tests: private ones, on a free port of the loopback, with their data in the
// test's own directory. A test may kill, freeze, empty and restart its server, and cut its append-only file. Each is ended
// with its test.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// databases is how many each server has: enough for a test each.
const databases = 16384

// Server is one server. It is not safe for concurrent use, but for Database.
type Server struct {
	t    testing.TB
	port int
	dir  string
	args []string
	cmd  *exec.Cmd
	next atomic.Int64
}

// Start starts a server with more settings, in the form of its command line: "--maxmemory", "10mb". Without redis-server
// on the machine the test is skipped; in CI, where everything has to be shown, it fails.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		const hint = "redis-server is missing: apt-get install redis-server"
		if os.Getenv("CI") != "" { //nolint:forbidigo // a test's helper: only tests skip
			t.Fatal(hint)
		}
		t.Skip(hint)
	}
	s := &Server{t: t, port: freePort(t), dir: t.TempDir()}
	s.args = append([]string{"--bind", "127.0.0.1", "--port", strconv.Itoa(s.port), "--dir", s.dir, "--save", "",
		"--databases", strconv.Itoa(databases), "--loglevel", "warning", "--logfile", filepath.Join(s.dir, "redis.log")}, settings...)
	t.Cleanup(s.Kill)
	s.Restart()
	return s
}

// freePort is a port that nobody listens on, below those that the system gives to outgoing connections: one of these could
// take it before the server does, or while the server is away.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 10_000 + rand.IntN(20_000)
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		_ = l.Close()
		return port
	}
	t.Fatal("no free port")
	return 0
}

// Restart starts the server again on its data, killing it first if it runs, and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.cmd = exec.Command("redis-server", s.args...)
	noOrphan(s.cmd)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	c := s.Client(0)
	deadline := time.Now().Add(20 * time.Second)
	for {
		err := c.Ping(context.Background()).Err()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			log, _ := os.ReadFile(filepath.Join(s.dir, "redis.log"))
			s.t.Fatalf("redis does not answer: %v\n%s", err, log)
		}
		time.Sleep(20 * time.Millisecond) // an outside process starts
	}
}

// Kill kills the server, if it runs: what it has not written to its file is lost.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// Freeze stops the server where it is; it keeps its connections and answers nobody until Thaw.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// URL is where database db is.
func (s *Server) URL(db int) string { return fmt.Sprintf("redis://%s/%d", s.Address(), db) }

// Address is the server's host and port.
func (s *Server) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Database is the number of a database that nobody has had yet.
func (s *Server) Database() int {
	n := int(s.next.Add(1))
	if n >= databases {
		s.t.Fatal("too many databases")
	}
	return n
}

// Client is a plain client of database db, for what a test does behind the program's back.
func (s *Server) Client(db int) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: s.Address(), DB: db,
		DialerRetries: 1, MaxRetries: -1})
	s.t.Cleanup(func() {
		if err := c.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
			s.t.Error(err)
		}
	})
	return c
}

// Do runs a command on database 0 and returns its reply.
func (s *Server) Do(args ...any) any {
	s.t.Helper()
	got, err := s.Client(0).Do(context.Background(), args...).Result()
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return got
}

// File is the part of the append-only file that is being written, of a server with "--appendonly", "yes".
func (s *Server) File() string {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(files) != 1 {
		s.t.Fatalf("append-only files %v: %v", files, err)
	}
	return files[0]
}

// FileSize is how long the file is now, after everything answered so far has been written with "--appendfsync", "always".
func (s *Server) FileSize() int64 {
	s.t.Helper()
	info, err := os.Stat(s.File())
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// CutFile kills the server, cuts its file to size bytes, and starts it again: it comes back older.
func (s *Server) CutFile(size int64) {
	s.t.Helper()
	s.Kill()
	if err := os.Truncate(s.File(), size); err != nil {
		s.t.Fatal(err)
	}
	s.Restart()
}
