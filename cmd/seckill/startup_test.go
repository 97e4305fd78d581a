package main_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestFirstStart: without any setting the program makes its data, prints the admin's password once, and has a demo item
// that opens within a minute. The password logs in through the page. A second start prints none and adds no item.
func TestFirstStart(t *testing.T) {
	t.Parallel()
	p := newProgram(t)
	p.launch()
	password := p.password
	if len(password) < 12 {
		t.Errorf("the printed password is %q", password)
	}
	page := decode[struct{ Items []item }](t, p.guest().get("/api/v1/items"))
	if len(page.Items) != 1 {
		t.Fatalf("a fresh program has the items %+v", page.Items)
	}
	opens := time.UnixMilli(millis(t, page.Items[0].StartsAt))
	if in := time.Until(opens); page.Items[0].Phase != "upcoming" || in > time.Minute || in < 10*time.Second {
		t.Errorf("the demo item is %+v", page.Items[0])
	}
	p.mustLogIn(password, true)
	p.mustLogIn(password+"x", false)
	mustBePrivate(t, p.dir)

	if code, _ := p.stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	p.launch()
	if p.password != "" {
		t.Error("the second start printed a password")
	}
	p.mustLogIn(password, true)
	if again := decode[struct{ Items []item }](t, p.guest().get("/api/v1/items")); len(again.Items) != 1 {
		t.Errorf("after the second start there are %d items", len(again.Items))
	}
	if log := p.stderr.tail(1 << 20); strings.Contains(log, password) {
		t.Error("the password is in the log")
	}
}

// mustLogIn tries the password on the page and checks whether the admin's pages open.
func (p *program) mustLogIn(password string, good bool) {
	p.t.Helper()
	c := p.guest()
	a := c.form("/login", url.Values{"name": {"admin"}, "password": {password}})
	if (a.status == http.StatusSeeOther) != good {
		p.t.Errorf("log in: %d", a.status)
	}
	if opened := c.get("/admin").status == http.StatusOK; opened != good {
		p.t.Errorf("the admin's page opened: %v, want %v", opened, good)
	}
}

// mustBePrivate checks that nobody else can read the secrets in the data directory.
func mustBePrivate(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*secret*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestAuditCommand: 0 on clean data, beside a running program too; 1 and the breach after damage by hand; 2 where it
// can not look.
func TestAuditCommand(t *testing.T) {
	t.Parallel()
	p := start(t)
	it := p.admin().publish(map[string]any{"stock": 10})
	c := p.buyer(nil, "buyer-1")
	a := c.buy(it.ID, 0)
	a.want(t, http.StatusAccepted)
	won := c.verdict(decode[ticket](t, a).Ticket, 10*time.Second)
	p.mustHold()
	p.stop()
	p.mustHold()

	for _, damage := range []struct{ promise, sql string }{
		{"I6", "UPDATE items SET available = available + 1"},
		{"I1", "UPDATE items SET stock = 0, available = 0"},
		{"I4", "DELETE FROM orders"},
	} {
		undo := p.damage(damage.sql)
		report, code := p.audit()
		if code != 1 || report.OK {
			t.Errorf("after %q: audit ended with %d, %+v", damage.sql, code, report)
		}
		found := false
		for _, check := range report.Checks {
			found = found || check.Promise == damage.promise && !check.OK && len(check.Breaches) > 0
		}
		if !found {
			t.Errorf("after %q: no breach of %s in %+v", damage.sql, damage.promise, report)
		}
		undo()
	}
	p.mustHold()
	if won.Order == nil {
		t.Error("the winner was not shown the order")
	}

	nowhere := &program{t: t, dir: filepath.Join(t.TempDir(), "nowhere")}
	if _, code := nowhere.audit(); code != 2 {
		t.Errorf("audit of no data ended with %d, want 2", code)
	}
}

// damage changes rows of a stopped program by hand, and returns what puts the file back.
func (p *program) damage(query string) (undo func()) {
	p.t.Helper()
	path := filepath.Join(p.dir, "seckill.db")
	good, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	db := openFile(p.t, path, "rw")
	res, err := db.ExecContext(p.t.Context(), query)
	if err != nil {
		p.t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n == 0 {
		p.t.Fatalf("%q changed no row", query)
	}
	if err := db.Close(); err != nil {
		p.t.Fatal(err)
	}
	return func() {
		for _, tail := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + tail); err != nil && !os.IsNotExist(err) {
				p.t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}
