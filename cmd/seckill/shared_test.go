package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/model/queue/redistest"
	"seckill/model/store/mariadbtest"
)

// sharedArgs is the settings of processes on a Redis and a MariaDB of the test's own, with a data directory that is
// not to be made.
func sharedArgs(t *testing.T) (args []string, data string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts servers")
	}
	cache, db := redistest.Start(t, "--appendonly", "yes"), mariadbtest.Start(t)
	data = filepath.Join(t.TempDir(), "data")
	return []string{"--redis", cache.URL(0), "--database", db.DSN(db.Database(t)), "--data", data, "--secret", settingsSecret,
		"--admin-token", settingsSecret, "--admin-password", "correct horse", "--buyers=header", "--trusted-proxies=127.0.0.1/32"}, data
}

// sharedCall sends a request as admin and as buyer ann, and decodes the answer.
func sharedCall(t *testing.T, method, url, body string, want int) (answer struct{ ID, Ticket, Status string }) {
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
	args, data := sharedArgs(t)
	printed, stop := serveStart(t, args...)
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
	if _, err := os.Stat(data); err == nil {
		t.Error("the data directory was made")
	}

	database := args[2:4]
	for command, want := range map[string]string{"audit": "I6 ok", "user list": "admin", "migrate": "up to date"} {
		var r settingsRun
		if code := r.run(t.Context(), append(strings.Fields(command), database...)...); code != exitOK || !strings.Contains(r.stdout.String(), want) {
			t.Errorf("%s: exit code %d, %s%s", command, code, r.stdout.String(), r.stderr.String())
		}
	}
	r := settingsRun{stdin: "a long password\n"}
	if code := r.run(t.Context(), append([]string{"user", "add", "eve"}, database...)...); code != exitOK {
		t.Errorf("user add: exit code %d, %s", code, r.stderr.String())
	}
}

// A process that answers browsers and one that sells are a shop together.
func TestWebAndWorker(t *testing.T) {
	t.Parallel()
	args, _ := sharedArgs(t)
	printed, stopWeb := serveStart(t, append(args, "--role=web")...)
	web := sharedURL(printed)
	item := sharedCall(t, "POST", web+"/api/v1/admin/items", sharedItem, 201)
	ticket := sharedCall(t, "POST", web+"/api/v1/items/"+item.ID+"/buy", "", 202)

	printed, stopWorker := serveStart(t, append(args, "--role=worker")...)
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
