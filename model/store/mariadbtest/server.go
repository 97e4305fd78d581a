// Package mariadbtest starts private MariaDB servers for tests: each with its own data, on a free port of the loopback
// interface, ended by its process id. It never talks to a server that it has not started. Only tests import it.
//
// Without MariaDB's programs tests are skipped and say what to install; with CI set they fail instead.
package mariadbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the driver of Exec and of the wait for a start
)

// user may do everything, without a password, from this machine.
const user = "seckill"

// startWithin bounds the wait for a server to answer.
const startWithin = 60 * time.Second

// Server is a running mariadbd. Its methods may be called by one test at a time, but Database and Exec by several.
type Server struct {
	dir     string
	port    int
	options []string
	process *exec.Cmd
	ended   chan struct{} // closed when the process is gone
	made    atomic.Int64  // databases
}

// Start starts a server that ends with the test. Options are further ones of mariadbd; the defaults commit without
// waiting for a disk.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	need(t)
	s, err := start(memoryDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// StartDurable is Start with data on a disk, and with commits that wait for it.
func StartDurable(t testing.TB, options ...string) *Server {
	t.Helper()
	need(t)
	s, err := start("", append([]string{"--innodb-flush-log-at-trx-commit=1", "--innodb-flush-method=O_DIRECT"}, options...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	return s
}

// need skips or fails the test where MariaDB is not installed.
func need(t testing.TB) {
	t.Helper()
	for _, name := range []string{"mariadbd", "mariadb-install-db"} {
		if _, err := program(name); err == nil {
			continue
		}
		missing := name + " is missing: install MariaDB 10.11 or later (Debian: mariadb-server)"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
}

// program finds a program also where servers are put that people do not call by name.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, name))
	}
	return path, err
}

// memoryDir is a directory in memory, where there is one.
func memoryDir() string {
	const dir = "/dev/shm"
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return ""
}

// start makes an empty server below parent, "" for the usual place of temporary files, and runs it.
func start(parent string, options []string) (*Server, error) {
	dir, err := os.MkdirTemp(parent, "mariadbtest")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, options: options}
	err = s.install()
	for attempt := 0; err == nil && attempt < 3; attempt++ {
		if s.port, err = freePort(); err != nil {
			break
		}
		if err = s.run(); err == nil {
			return s, nil
		}
	}
	return nil, errors.Join(err, os.RemoveAll(dir))
}

// common is the options of both programs.
func (s *Server) common() []string {
	options := []string{"--no-defaults", "--datadir=" + filepath.Join(s.dir, "data"), "--tmpdir=" + s.dir, "--skip-name-resolve",
		"--innodb-log-file-size=64M", "--aria-log-file-size=8M"}
	if os.Getuid() == 0 {
		options = append(options, "--user=root")
	}
	return options
}

func (s *Server) install() error {
	path, err := program("mariadb-install-db")
	if err != nil {
		return err
	}
	args := append(s.common(), "--skip-test-db", "--auth-root-authentication-method=normal", "--innodb-flush-method=nosync")
	if out, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	// One statement a line.
	grants := fmt.Sprintf("CREATE OR REPLACE USER '%s'@'127.0.0.1';\nGRANT ALL ON *.* TO '%s'@'127.0.0.1' WITH GRANT OPTION;\n", user, user)
	return os.WriteFile(filepath.Join(s.dir, "init.sql"), []byte(grants), 0o600)
}

// freePort is a port that nobody listens on now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// run starts mariadbd and waits until it answers.
func (s *Server) run() error {
	path, err := program("mariadbd")
	if err != nil {
		return err
	}
	args := append(s.common(), fmt.Sprintf("--port=%d", s.port), "--bind-address=127.0.0.1",
		"--socket="+filepath.Join(s.dir, "sock"), "--pid-file="+filepath.Join(s.dir, "pid"),
		"--init-file="+filepath.Join(s.dir, "init.sql"), "--performance-schema=OFF",
		"--innodb-buffer-pool-size=128M", "--innodb-flush-log-at-trx-commit=0")
	s.process = exec.Command(path, append(args, s.options...)...)
	s.process.SysProcAttr = dieWithParent()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.process.Stdout, s.process.Stderr = log, log
	if err := s.process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.ended = ended
	go func(p *exec.Cmd) { _ = p.Wait(); close(ended) }(s.process)
	return s.answers()
}

// answers waits for the first answer of a server that was just started.
func (s *Server) answers() error {
	db, err := sql.Open("mysql", fmt.Sprintf("%s@tcp(%s)/", user, s.Addr()))
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		select {
		case <-s.ended:
			return fmt.Errorf("mariadbd did not start: %s", s.log())
		case <-ctx.Done():
			s.Kill()
			return fmt.Errorf("mariadbd does not answer: %w: %s", err, s.log())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) log() string {
	b, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(b[max(0, len(b)-4096):])
}

// Addr is the server's host and port.
func (s *Server) Addr() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

// Database makes an empty database, dropped when the test ends, and is its name.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("test%d", s.made.Add(1))
	s.Exec(t, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		if !t.Failed() {
			s.Exec(t, "DROP DATABASE "+name)
		}
	})
	return name
}

// DSN is the address of a database in the program's form.
func (s *Server) DSN(database string) string { return DSN(s.Addr(), database) }

// DSN is the address of a database in the program's form, at a server or at what stands before it.
func DSN(addr, database string) string { return fmt.Sprintf("mysql://%s@%s/%s", user, addr, database) }

// Exec runs statements as somebody who may do everything.
func (s *Server) Exec(t testing.TB, statements ...string) {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("%s@tcp(%s)/", user, s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// Kill ends the server as a power cut would, and waits until it is gone.
func (s *Server) Kill() {
	_ = s.process.Process.Kill()
	<-s.ended
}

// Restart starts the server again after Kill, on the same data and port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	if err := s.run(); err != nil {
		t.Fatal(err)
	}
}

// Freeze stops the server in its tracks: connections stay, nothing answers.
func (s *Server) Freeze() { _ = s.process.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { _ = s.process.Process.Signal(syscall.SIGCONT) }

// stop ends the server and removes its data: nobody needs it to end well.
func (s *Server) stop() {
	s.Kill()
	_ = os.RemoveAll(s.dir)
}
