package main_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	adminToken    = "an-admin-token-for-tests"
	adminPassword = "correct horse battery staple"
	// startWithin is how long the built program may take to say that it listens, on a slow machine under -race.
	startWithin = 30 * time.Second
)

// binary is the built program; TestMain sets it before any test runs.
var binary string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	flag.Parse()
	if testing.Short() {
		return m.Run() // tests of the built program skip themselves
	}
	dir, err := os.MkdirTemp("", "seckill-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "seckill")
	if err := build(binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// build builds the program into a file, with the tests' race detector.
func build(file string, flags ...string) error {
	args := append([]string{"build", "-o", file}, flags...)
	if raceDetector {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, ".")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// program is one running process of the built program, and what it takes to start it again on the same data.
type program struct {
	t    *testing.T
	dir  string // --data
	args []string
	// built is the file of another build than all tests have, empty for none; env is further variables for it.
	built string
	env   []string

	cmd      *exec.Cmd
	url      string // http://127.0.0.1:…
	password string // printed at first start
	stderr   *record
	exited   chan struct{} // closed when the process is gone
}

// start runs the program on port 0 with new data, an admin token, buyers by header and no demo item, and args after
// these. The program is killed when the test ends.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	p := newProgram(t, append([]string{"--admin-token", adminToken, "--buyers", "header",
		"--trusted-proxies", "127.0.0.1/32", "--demo=false"}, args...)...)
	p.launch()
	return p
}

// newProgram is a program with exactly these args beside --listen and --data, not yet started.
func newProgram(t *testing.T, args ...string) *program {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	p := &program{t: t, dir: t.TempDir(), args: args}
	t.Cleanup(func() {
		p.kill()
		if p.stderr != nil && t.Failed() {
			t.Logf("the program's last words:\n%s", p.stderr.tail(4000))
		}
	})
	return p
}

// command is the program with these arguments, in an environment without settings, ended with the test.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Dir = t.TempDir()
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SECKILL_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	return cmd
}

var (
	listening = regexp.MustCompile(`^listening on (http://\S+)$`)
	printed   = regexp.MustCompile(`^admin password: (\S+)$`)
)

// launch starts the process and waits until it listens.
func (p *program) launch() {
	p.t.Helper()
	p.cmd = command(p.t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", p.dir}, p.args...)...)
	if p.built != "" {
		p.cmd.Path, p.cmd.Args[0] = p.built, p.built
	}
	p.cmd.Env = append(p.cmd.Env, p.env...)
	p.stderr, p.password, p.url = &record{}, "", ""
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.exited = make(chan struct{})
	ready := make(chan struct{})
	go p.watch(p.cmd, stdout, ready)
	select {
	case <-ready:
	case <-p.exited:
		p.t.Fatalf("the program ended before it listened: %v\n%s", p.cmd.ProcessState, p.stderr.tail(4000))
	case <-time.After(startWithin):
		p.t.Fatalf("the program does not listen after %s\n%s", startWithin, p.stderr.tail(4000))
	}
}

// watch reads standard output to its end, then waits for the process. It closes ready at the line that says so.
func (p *program) watch(cmd *exec.Cmd, stdout io.Reader, ready chan<- struct{}) {
	defer close(p.exited)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if m := printed.FindStringSubmatch(lines.Text()); m != nil {
			p.password = m[1]
		}
		if m := listening.FindStringSubmatch(lines.Text()); m != nil && p.url == "" {
			p.url = m[1]
			close(ready)
		}
	}
	_ = cmd.Wait() // the state tells how it ended
}

// kill ends the process as a power cut would, and waits until it is gone. Killing twice is killing once.
func (p *program) kill() {
	p.t.Helper()
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("kill: %v", err)
	}
	p.wait(10 * time.Second)
	p.mustBeSane()
}

// stop ends the process with SIGTERM and returns its exit code and how long that took.
func (p *program) stop() (code int, took time.Duration) {
	p.t.Helper()
	asked := time.Now()
	p.terminate()
	p.wait(30 * time.Second)
	p.mustBeSane()
	return p.cmd.ProcessState.ExitCode(), time.Since(asked)
}

// terminate sends SIGTERM and does not wait.
func (p *program) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatalf("SIGTERM: %v", err)
	}
}

func (p *program) wait(within time.Duration) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(within):
		p.t.Fatalf("the program is still there after %s", within)
	}
}

// mustBeSane fails the test if the process has reported a data race or a panic.
func (p *program) mustBeSane() {
	p.t.Helper()
	for _, bad := range []string{"WARNING: DATA RACE", "panic: ", "panic recovered", "fatal error: "} {
		if around := p.stderr.around(bad, 3000); around != "" {
			p.t.Errorf("the program's log has %q:\n%s", bad, around)
		}
	}
}

// record keeps what a process writes. Safe for concurrent use.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(b)
}

// tail is at most the last n bytes.
func (r *record) tail(n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.b.Bytes()
	return string(b[max(0, len(b)-n):])
}

// around is up to n bytes from the first s on, empty where there is none.
func (r *record) around(s string, n int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.b.Bytes()
	at := bytes.Index(b, []byte(s))
	if at < 0 {
		return ""
	}
	return string(b[at:min(len(b), at+n)])
}

// eventually asks until ok holds and fails the test after within: for what another process does.
func eventually(t *testing.T, within time.Duration, what string, ok func() bool) {
	t.Helper()
	if !ask(within, ok) {
		t.Fatalf("after %s still not: %s", within, what)
	}
}

// ask asks every 20 ms until ok holds, and tells whether it did within the time.
func ask(within time.Duration, ok func() bool) bool {
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			return false
		}
	}
	return true
}
