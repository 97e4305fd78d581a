package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/model/queue/redistest"
	"seckill/model/store/mariadbtest"
)

// shared is a Redis and a MariaDB of the test's own, and the settings of processes on them.
type shared struct {
	cache *redistest.Server
	db    *mariadbtest.Server
	dsn   string
	data  string // the data directory, which is not to be made
	args  []string
}

func openShared(t *testing.T) shared {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	s := shared{cache: redistest.Start(t, "--appendonly", "yes"), db: mariadbtest.Start(t), data: filepath.Join(t.TempDir(), "data")}
	s.dsn = s.db.DSN(s.db.Database(t))
	s.args = []string{"--redis", s.cache.URL(0), "--database", s.dsn, "--data", s.data, "--secret", settingsSecret,
		"--admin-token", settingsSecret, "--admin-password", "correct horse", "--buyers=header", "--trusted-proxies=127.0.0.1/32"}
	return s
}

// sharedCall sends a request as admin and as buyer ann, and decodes the answer.
func sharedCall(t *testing.T, method, url, body string, want int) (answer struct {
	ID, Ticket, Status string
	Checks             map[string]bool
}) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+settingsSecret)
	request.Header.Set("X-Buyer-ID", "ann")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		t.Fatalf("%s %s: %d %s, %v; want %d", method, url, response.StatusCode, text, err, want)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
	}
	return answer
}

func sharedURL(printed []string) string {
	return strings.TrimPrefix(printed[len(printed)-1], "listening on ")
}

// sharedVerdict polls a ticket until it is decided.
func sharedVerdict(t *testing.T, url, ticket string) string {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		if status := sharedCall(t, "GET", url+"/api/v1/tickets/"+ticket, "", 200).Status; status != "queued" {
			return status
		}
		select {
		case <-late:
			t.Fatal("still queued")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const sharedItem = `{"title":"Kettle","price":{"amount":100,"currency":"CNY"},"stock":1}`

func TestOneProcessOnRedisAndMySQL(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	printed, stop := serveStart(t, s.args...)
	url := sharedURL(printed)
	item := sharedCall(t, "POST", url+"/api/v1/admin/items", sharedItem, 201)
	ticket := sharedCall(t, "POST", url+"/api/v1/items/"+item.ID+"/buy", "", 202)
	if status := sharedVerdict(t, url, ticket.Ticket); status != "won" {
		t.Error(status)
	}
	sharedCall(t, "GET", url+"/readyz", "", 200)
	if code := stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(s.data); err == nil {
		t.Error("the data directory was made")
	}

	for command, want := range map[string]string{"audit": "I6 ok", "user list": "admin", "migrate": "up to date"} {
		var r settingsRun
		if code := r.run(t.Context(), append(strings.Fields(command), "--database", s.dsn)...); code != exitOK || !strings.Contains(r.stdout.String(), want) {
			t.Errorf("%s: exit code %d, %s%s", command, code, r.stdout.String(), r.stderr.String())
		}
	}
	r := settingsRun{stdin: "a long password\n"}
	if code := r.run(t.Context(), "user", "add", "eve", "--database", s.dsn); code != exitOK {
		t.Errorf("user add: exit code %d, %s", code, r.stderr.String())
	}
}

// A process that answers browsers and one that sells are a shop together.
func TestWebAndWorker(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	printed, stopWeb := serveStart(t, append(s.args, "--role=web")...)
	web := sharedURL(printed)
	item := sharedCall(t, "POST", web+"/api/v1/admin/items", sharedItem, 201)
	ticket := sharedCall(t, "POST", web+"/api/v1/items/"+item.ID+"/buy", "", 202)

	printed, stopWorker := serveStart(t, append(s.args, "--role=worker")...)
	worker := sharedURL(printed)
	if status := sharedVerdict(t, web, ticket.Ticket); status != "won" {
		t.Error(status)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/": 404, "/api/v1/items": 404} {
		sharedCall(t, "GET", worker+path, "", want)
	}
	for name, stop := range map[string]func() int{"web": stopWeb, "worker": stopWorker} {
		if code := stop(); code != exitOK {
			t.Errorf("%s: exit code %d", name, code)
		}
	}
}

// Processes that start at once on an empty database make one admin, whose password one of them prints.
func TestProcessesStartAtOnce(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	args := slices.DeleteFunc(slices.Clone(s.args), func(a string) bool { return a == "--admin-password" || a == "correct horse" })
	var passwords atomic.Int64
	var starting sync.WaitGroup
	for range 3 {
		starting.Go(func() {
			printed, stop := serveStart(t, args...)
			passwords.Add(int64(len(printed) - 1))
			if code := stop(); code != exitOK {
				t.Errorf("exit code %d", code)
			}
		})
	}
	starting.Wait()
	var r settingsRun
	if code := r.run(t.Context(), "user", "list", "--database", s.dsn); code != exitOK || strings.Count(r.stdout.String(), "\n") != 1 {
		t.Errorf("exit code %d, users %q", code, r.stdout.String())
	}
	if n := passwords.Load(); n != 1 {
		t.Errorf("%d passwords were printed", n)
	}
}

// A database that does not answer keeps nobody waiting for long: who needs it is told 503.
func TestAFrozenDatabaseKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	s := openShared(t)
	printed, stop := serveStart(t, s.args...)
	defer stop()
	url := sharedURL(printed)
	item := sharedCall(t, "POST", url+"/api/v1/admin/items", strings.Replace(sharedItem, `"stock":1`, `"stock":9`, 1), 201)
	ticket := sharedCall(t, "POST", url+"/api/v1/items/"+item.ID+"/buy", "", 202)
	sharedVerdict(t, url, ticket.Ticket)
	s.db.Freeze()
	defer s.db.Thaw()
	for _, c := range []struct {
		method, path string
		within       time.Duration
	}{
		{"POST", "/api/v1/items/" + item.ID + "/buy", 5 * time.Second},
		{"GET", "/api/v1/tickets/" + ticket.Ticket, 6 * time.Second},
		{"GET", "/api/v1/items", 6 * time.Second},
		{"GET", "/items/" + item.ID, 6 * time.Second},
		{"GET", "/readyz", 3 * time.Second},
		{"POST", "/api/v1/admin/items/" + item.ID + "/pause", 6 * time.Second},
	} {
		start := time.Now()
		answer := sharedCall(t, c.method, url+c.path, "", 503)
		if answer.Checks != nil && (answer.Checks["sql"] || !answer.Checks["queue"]) {
			t.Errorf("the frozen database is not the one that is missed: %v", answer.Checks)
		}
		if took := time.Since(start); took > c.within {
			t.Errorf("%s %s answered after %v", c.method, c.path, took)
		}
	}
	s.db.Thaw()
	sharedVerdict(t, url, ticket.Ticket)
}

func TestARedisThatWillNotDoIsRefused(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts servers")
	}
	cache := redistest.Start(t, "--maxmemory-policy", "allkeys-lru")
	var r settingsRun
	code := r.run(t.Context(), "--redis", cache.URL(0), "--secret", settingsSecret, "--data", filepath.Join(t.TempDir(), "data"))
	if said := r.stderr.String(); code != exitWrong || !strings.Contains(said, "noeviction") || !strings.Contains(said, "append-only") {
		t.Errorf("exit code %d: %s", code, said)
	}
}
