package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// plant is one forbidden line, put into a package of a copy of the tree.
type plant struct {
	pkg  string // its directory
	line string // the import path, or with a leading "!" a statement that uses os or log
	by   string // the linter that has to see it
}

// plants has only what compiles: the compiler itself refuses the directions that would close a circle, as from model to
// model/store.
var plants = []plant{
	{"model", "github.com/gin-gonic/gin", "depguard"},
	{"model", "database/sql", "depguard"},
	{"model/queue", "seckill/model/store", "depguard"},
	{"model/queue", "gorm.io/gorm", "depguard"},
	{"model/store", "github.com/gorilla/websocket", "depguard"},
	{"api/sale", "github.com/gin-gonic/gin", "depguard"},
	{"api/sale", "net/http", "depguard"},
	{"api/sale", "seckill/worker", "depguard"},
	{"api/ws", "github.com/gin-gonic/gin", "depguard"},
	{"api/ws", "seckill/worker", "depguard"},
	{"api", "seckill/worker", "depguard"},
	{"api", "github.com/gorilla/websocket", "depguard"},
	{"api", "gorm.io/gorm", "depguard"},
	{"web", "seckill/worker", "depguard"},
	{"web", "github.com/gorilla/websocket", "depguard"},
	{"web", "github.com/alecthomas/kong", "depguard"},
	{"worker", "github.com/gin-gonic/gin", "depguard"},
	{"worker", "github.com/libtnb/sqlite", "depguard"},
	{"cmd/seckill", "gorm.io/gorm", "depguard"},
	{"cmd/seckill", "github.com/gin-gonic/gin", "depguard"},
	{"static", "seckill/model", "depguard"},
	{"model", `!os.Getenv("HOME")`, "forbidigo"},
	{"worker", "!os.Exit(1)", "forbidigo"},
	{"api", `!log.Fatal("no")`, "forbidigo"},
}

// reverse has the directions that would close a circle with those above.
var reverse = []plant{
	{"model/store", "seckill/model/queue", "depguard"},
	{"worker", "seckill/api/sale", "depguard"},
	{"worker", "seckill/web", "depguard"},
}

// TestLintHoldsImportDirections shows that the clean tree is green, and that each forbidden line turns it red.
func TestLintHoldsImportDirections(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the linter three times")
	}
	linter := findLinter(t)
	tree := copyTree(t, "..")

	if found := lint(t, linter, tree); len(found) > 0 {
		t.Fatalf("the clean tree is not green: %v", found)
	}
	for _, round := range [][]plant{plants, reverse} {
		sow(t, tree, round)
		found := lint(t, linter, tree)
		for n, p := range round {
			if !found[p.file(n)+" "+p.by] {
				t.Errorf("%s may use %s: the linter let it pass", p.pkg, p.line)
			}
		}
		reap(t, tree, round)
	}
}

func sow(t *testing.T, tree string, plants []plant) {
	t.Helper()
	for n, p := range plants {
		if err := os.WriteFile(filepath.Join(tree, p.file(n)), []byte(p.source()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func reap(t *testing.T, tree string, plants []plant) {
	t.Helper()
	for n, p := range plants {
		if err := os.Remove(filepath.Join(tree, p.file(n))); err != nil {
			t.Fatal(err)
		}
	}
}

func (p plant) file(n int) string { return fmt.Sprintf("%s/planted%d.go", p.pkg, n) }

func (p plant) source() string {
	name := filepath.Base(p.pkg)
	if strings.HasPrefix(p.pkg, "cmd/") {
		name = "main"
	}
	if statement, ok := strings.CutPrefix(p.line, "!"); ok {
		lib, _, _ := strings.Cut(statement, ".")
		return fmt.Sprintf("package %s\n\nimport %q\n\nfunc _() { %s }\n", name, lib, statement)
	}
	return fmt.Sprintf("package %s\n\nimport _ %q\n", name, p.line)
}

// findLinter is the linter that make has installed.
func findLinter(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("../bin/golangci-lint-v*")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("no linter in bin: run make lint first")
		}
		t.Skip("no linter in bin: run make lint first")
	}
	path, err := filepath.Abs(found[len(found)-1])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// lint runs the two linters that hold directions, and returns what they found as "file linter".
func lint(t *testing.T, linter, tree string) map[string]bool {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.json")
	cmd := exec.Command(linter, "run", "--enable-only=depguard,forbidigo", "--issues-exit-code=3",
		"--max-issues-per-linter=0", "--max-same-issues=0", "--output.json.path="+report, "./...")
	cmd.Dir = tree
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 3) {
		t.Fatalf("golangci-lint: %v\n%s", err, out)
	}
	found := readReport(t, report)
	if strings.Contains(string(out), "typecheck") || err != nil != (len(found) > 0) {
		t.Fatalf("golangci-lint ended with %v and %d findings\n%s", err, len(found), out)
	}
	return found
}

func readReport(t *testing.T, path string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Issues []struct {
			FromLinter string
			Pos        struct{ Filename string }
		}
	}
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatalf("report: %v\n%s", err, b)
	}
	found := map[string]bool{}
	for _, issue := range report.Issues {
		found[filepath.ToSlash(issue.Pos.Filename)+" "+issue.FromLinter] = true
	}
	return found
}

// copyTree copies what the linter reads of the project: everything but the repository, binaries and data.
func copyTree(t *testing.T, root string) string {
	t.Helper()
	to := t.TempDir()
	skip := map[string]bool{".git": true, "bin": true, "data": true, "node_modules": true}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && skip[d.Name()]:
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}
