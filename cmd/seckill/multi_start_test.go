package main_test

import (
	"bytes"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"seckill/model/queue/redistest"
)

// mustRefuse runs serve with the arguments and wants it to end before it listens, with the code, and saying word.
func mustRefuse(t *testing.T, code int, word string, args ...string) {
	t.Helper()
	cmd := command(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code || !strings.Contains(stderr.String(), word) {
		t.Errorf("%q ended with %v, want %d and %q:\n%s", args, err, code, word, &stderr)
	}
	if strings.Contains(stdout.String(), "listening") {
		t.Errorf("%q said %q", args, &stdout)
	}
}

// TestWrongProductionSettings: what instances on Redis need and do not have is refused before anything starts.
func TestWrongProductionSettings(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	const (
		aRedis   = "redis://127.0.0.1:1/0" // nobody listens
		database = "mysql://nobody@127.0.0.1:1/none"
		secret   = "shared-shared-shared-shared-shared"
	)
	mustRefuse(t, 2, "--secret: ", "--redis", aRedis, "--database", database)
	mustRefuse(t, 2, "--redis: ", "--database", database, "--secret", secret)
	for _, role := range []string{"web", "worker"} {
		mustRefuse(t, 2, "--role: ", "--role", role)
		mustRefuse(t, 2, "--role: ", "--role", role, "--redis", aRedis, "--secret", secret)
	}
	mustRefuse(t, 2, "--role: ", "--role", "boss", "--redis", aRedis, "--database", database, "--secret", secret)
	mustRefuse(t, 2, "--redis: ", "--redis", "http://127.0.0.1:1", "--database", database, "--secret", secret)
}

// TestRedisThatForgetsIsRefused: a start on a Redis that may evict keys fails and says why.
func TestRedisThatForgetsIsRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	s := redistest.Start(t, "--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
	mustRefuse(t, 2, "noeviction", "--redis", s.URL(0), "--secret", "shared-shared-shared-shared-shared")
}

// TestRoles: an instance of role web takes clicks and decides nothing; one of role worker decides them.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{args: [][]string{{"--role", "web"}, {"--role", "worker"}}})
	web, worker := s.apps[0], s.apps[1]
	s.balancer.remove(worker.url)
	it := s.admin().publish(map[string]any{"stock": 10})
	pg := s.at(web).open(it.ID, "first")
	first := s.insistAll(it.ID, []string{"first"})
	s.verdicts(first)
	if got, took, ok := pg.hear(first[0].ticket.Ticket, first[0].answered, 5*time.Second); !ok || got.Status != "won" {
		t.Errorf("the page heard %+v after %s", got, took)
	}

	code, _ := worker.stop()
	if code != 0 {
		t.Errorf("the worker ended with %d", code)
	}
	waiting := s.insistAll(it.ID, names("waiting", 20))
	<-time.After(time.Second) // a seller would have come
	for _, line := range waiting {
		a := s.buyer(nil, line.buyer).get("/api/v1/tickets/" + line.ticket.Ticket)
		a.want(t, http.StatusOK)
		if got := decode[ticket](t, a); got.Status != "queued" {
			t.Errorf("without a worker a ticket is %q", got.Status)
		}
	}
	worker.launch()
	told := s.verdicts(waiting)
	if won := s.mustAddUp(it.ID, waiting, told, "sold_out"); won != 9 {
		t.Errorf("%d won, want 9", won)
	}
	mustBeFirstCome(t, told)
	s.mustHold()
}
