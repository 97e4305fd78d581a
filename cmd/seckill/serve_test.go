package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/store"
)

// serveStart runs serve inside the test and returns what it printed up to the line that it listens, and what stops it
// and returns the exit code.
func serveStart(t *testing.T, args ...string) (printed []string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	r := settingsRun{}
	p := r.program()
	p.stdout = in
	exit := make(chan int, 1)
	go func() {
		exit <- p.run(ctx, append([]string{"--listen=127.0.0.1:0"}, args...))
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		printed = append(printed, lines.Text())
		if strings.HasPrefix(lines.Text(), "listening on ") {
			return printed, func() int { cancel(); return <-exit }
		}
	}
	t.Fatalf("it ended with %d: %s", <-exit, r.stderr.String())
	return nil, nil
}

// serveItems is the titles of the items of a data directory.
func serveItems(t *testing.T, data string) (titles []string) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(data, "seckill.db"), store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	items, _, err := db.Items(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		titles = append(titles, i.Title)
	}
	return titles
}

func TestServeTwice(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	printed, stop := serveStart(t, "--data", data)
	if len(printed) != 2 || !strings.HasPrefix(printed[0], "admin password: ") {
		t.Errorf("the first start printed %q", printed)
	}
	url := strings.TrimPrefix(printed[1], "listening on ")
	response, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	if _ = response.Body.Close(); response.StatusCode != http.StatusOK {
		t.Errorf("/readyz %d", response.StatusCode)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if items := serveItems(t, data); len(items) != 1 {
		t.Errorf("items %q, want the demo", items)
	}

	printed, stop = serveStart(t, "--data", data, "--demo")
	if len(printed) != 1 {
		t.Errorf("the second start printed %q", printed)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if items := serveItems(t, data); len(items) != 1 {
		t.Errorf("items %q, want the one demo", items)
	}
}

func TestServeWithoutDemoAndWithAPassword(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	printed, stop := serveStart(t, "--data", data, "--demo=false", "--admin-password=correct horse")
	if len(printed) != 1 {
		t.Errorf("printed %q", printed)
	}
	if code := stop(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if items := serveItems(t, data); len(items) != 0 {
		t.Errorf("items %q", items)
	}
}

func TestServeOnATakenPortFails(t *testing.T) {
	t.Parallel()
	printed, stop := serveStart(t, "--data", filepath.Join(t.TempDir(), "one"), "--admin-password=pw")
	defer stop()
	var r settingsRun
	address := strings.TrimPrefix(printed[0], "listening on http://")
	if code := r.run(t.Context(), "--listen", address, "--data", filepath.Join(t.TempDir(), "two")); code != exitFailure {
		t.Errorf("exit code %d: %s", code, r.stderr.String())
	}
}

func TestStopsBeforeItIsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var r settingsRun
	if code := r.run(ctx, "--listen=127.0.0.1:0", "--data", t.TempDir()); code != exitOK {
		t.Errorf("exit code %d: %s", code, r.stderr.String())
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	data := "--data=" + filepath.Join(t.TempDir(), "data")
	for n, c := range []struct {
		args  string
		stdin string
		code  int
		says  string
	}{
		{"user list", "", exitFailure, "seckill: "},
		{"user add ann", "1234567\n", exitFailure, "at least 8 characters"},
		{"user add ann", "12345678", exitOK, ""},
		{"user add ann", "12345678\n", exitFailure, "is taken"},
		{"user passwd bob", "12345678\n", exitFailure, `there is no user "bob"`},
		{"user passwd ann", "87654321\r\n", exitOK, ""},
		{"user list", "", exitOK, "ann\tadmin\t"},
		{"user", "", exitWrong, ""},
	} {
		r := settingsRun{stdin: c.stdin}
		code := r.run(t.Context(), append(strings.Fields(c.args), data)...)
		if said := r.stdout.String() + r.stderr.String(); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%d. %s: exit code %d, %q; want %d, %q", n, c.args, code, said, c.code, c.says)
		}
	}
	var r settingsRun
	if code := r.run(t.Context(), "user", "add", "two words", data); code != exitFailure {
		t.Errorf("a name with a space: exit code %d", code)
	}
}

// auditDamage makes a database with one item and then breaks it through the store.
func auditDamage(t *testing.T, data string) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite://"+filepath.Join(data, "seckill.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	_, err = db.CreateItem(t.Context(), model.Item{Title: "x", Price: model.Money{Amount: 1, Currency: "CNY"}, Stock: 5, Available: 6,
		PerBuyerLimit: 1, PayWithin: 900, StartsAt: 1, Version: 1, Epoch: 1, CreatedAt: 1, UpdatedAt: 1})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditExitCodes(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	audit := func(want int, args ...string) string {
		t.Helper()
		var r settingsRun
		if code := r.run(t.Context(), append([]string{"audit", "--data", data}, args...)...); code != want {
			t.Errorf("exit code %d, want %d: %s", code, want, r.stderr.String())
		}
		return r.stdout.String()
	}
	audit(auditNotSeen)
	audit(auditNotSeen, "--nonsense")
	if _, err := os.Stat(data); err == nil {
		t.Error("audit made the directory")
	}
	if code := new(settingsRun).run(t.Context(), "user", "list", "--data", data); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	if code := new(settingsRun).run(t.Context(), "migrate", "--data", data); code != exitOK {
		t.Fatalf("migrate: exit code %d", code)
	}
	if said := audit(auditHolds); !strings.Contains(said, "I1 ok\n") || strings.Contains(said, "BREACH") {
		t.Errorf("said %q", said)
	}
	auditDamage(t, data)
	if said := audit(auditBreach); !strings.Contains(said, "I6 BREACH item ") {
		t.Errorf("said %q", said)
	}
	var report struct {
		OK     bool
		Checks []struct {
			Promise  string
			OK       bool
			Breaches []struct{ Item, Order, Detail *string }
		}
	}
	if err := json.Unmarshal([]byte(audit(auditBreach, "--json")), &report); err != nil || report.OK || len(report.Checks) < 5 {
		t.Errorf("%+v, %v", report, err)
	}
	for _, c := range report.Checks {
		if c.OK != (len(c.Breaches) == 0) || c.Breaches == nil {
			t.Errorf("%+v", c)
		}
	}
}

// A part that hangs does not hold the program up for ever.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	hung := startPart("hung", func(context.Context) error { <-t.Context().Done(); return nil }, make(chan error, 1))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := hung.stop(ctx); err == nil || !strings.Contains(err.Error(), "hung did not stop in time") {
		t.Errorf("error %v", err)
	}
}

func TestAPartThatFailsStopsTheProgram(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	p := startPart("web", func(context.Context) error { return io.ErrUnexpectedEOF }, failed)
	if err := <-failed; err.Error() != "web: unexpected EOF" {
		t.Errorf("error %v", err)
	}
	if err := p.stop(t.Context()); err != nil {
		t.Error(err)
	}
}
