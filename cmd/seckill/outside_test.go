package main_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"
)

// database opens the program's SQLite file beside it, for reading only.
func (p *program) database() *sql.DB {
	p.t.Helper()
	return openFile(p.t, filepath.Join(p.dir, "seckill.db"), "ro")
}

func openFile(t *testing.T, path, mode string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode="+mode+"&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// sold is an order's row as the contract names it for outside checkers.
type sold struct {
	no, buyer  string
	quantity   int
	status     string
	epoch, seq int64
}

// orders is the item's orders in SQL, by number.
func orders(t *testing.T, db *sql.DB, itemID string) []sold {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT no, buyer, quantity, status, epoch, seq FROM orders
		WHERE item_id = CAST(? AS INTEGER) ORDER BY epoch, seq`, itemID)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []sold
	for rows.Next() {
		var o sold
		if err := rows.Scan(&o.no, &o.buyer, &o.quantity, &o.status, &o.epoch, &o.seq); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// itemRow is what outside checkers read of an item.
type itemRow struct{ stock, available, version, epoch, decided int64 }

func itemInSQL(t *testing.T, db *sql.DB, itemID string) itemRow {
	t.Helper()
	var r itemRow
	err := db.QueryRowContext(t.Context(), `SELECT stock, available, version, epoch, decided FROM items
		WHERE id = CAST(? AS INTEGER)`, itemID).Scan(&r.stock, &r.available, &r.version, &r.epoch, &r.decided)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// count is a single number from SQL.
func count(t *testing.T, db *sql.DB, query string, args ...any) int64 {
	t.Helper()
	var n int64
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// fingerprint is a sum over every row of every table but the login sessions, by table.
func fingerprint(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT name FROM sqlite_master WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%session%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	sums := map[string]string{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		sums[name] = ""
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for name := range sums {
		sums[name] = sumTable(t, db, name)
	}
	return sums
}

func sumTable(t *testing.T, db *sql.DB, name string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), fmt.Sprintf("SELECT * FROM %q", name))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for n := range values {
			into[n] = &values[n]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%q", values))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d rows %x", len(lines), sha256.Sum256([]byte(strings.Join(lines, "\n"))))
}

// audited is what audit --json prints.
type audited struct {
	OK     bool `json:"ok"`
	Checks []struct {
		Promise  string `json:"promise"`
		OK       bool   `json:"ok"`
		Breaches []struct {
			Item   *string `json:"item"`
			Order  *string `json:"order"`
			Detail string  `json:"detail"`
		} `json:"breaches"`
	} `json:"checks"`
}

// audit runs the program's own audit on the data, and returns its report and exit code.
func (p *program) audit() (audited, int) {
	p.t.Helper()
	return auditOf(p.t, "--data", p.dir)
}

// auditOf is audit of the data that the arguments name.
func auditOf(t *testing.T, args ...string) (audited, int) {
	t.Helper()
	cmd := command(t, append([]string{"audit", "--json"}, args...)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("audit: %v", err)
	}
	var report audited
	if code := cmd.ProcessState.ExitCode(); code == 2 {
		return report, code
	}
	if err := json.Unmarshal(out, &report); err != nil {
		t.Fatalf("audit --json: %v: %.600s", err, out)
	}
	return report, cmd.ProcessState.ExitCode()
}

// mustHold fails the test unless the audit finds every promise kept.
func (p *program) mustHold() {
	p.t.Helper()
	report, code := p.audit()
	if code != 0 || !report.OK || len(report.Checks) == 0 {
		p.t.Errorf("audit ended with %d: %+v", code, report)
	}
}
