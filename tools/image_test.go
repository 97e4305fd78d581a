package tools

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildImage runs the build command of the Dockerfile, as it stands there, on what the image's build is given of the
// tree, and returns the program that it makes.
func buildImage(t *testing.T) string {
	t.Helper()
	tree := copyTree(t, "..")
	for _, left := range strings.Fields(read(t, "../.dockerignore")) {
		if strings.ContainsAny(left, "*?[!#/") {
			t.Fatalf(".dockerignore: this test only understands names, not %q", left)
		}
		if err := os.RemoveAll(filepath.Join(tree, left)); err != nil {
			t.Fatal(err)
		}
	}
	build := buildCommand(t, read(t, "../Dockerfile"))
	cmd := exec.Command("sh", "-c", build.command)
	cmd.Dir = tree
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build.command, err, out)
	}
	return filepath.Join(tree, build.program)
}

// build is how an image gets its program.
type build struct {
	command string // of a shell
	program string // what it makes, relative to where it runs
}

var (
	mounts    = regexp.MustCompile(`^RUN (--mount=\S+ )*`)
	copiesOut = regexp.MustCompile(`(?m)^COPY --from=build /src/(\S+) /seckill$`)
)

// buildCommand finds the one RUN of a Dockerfile that builds, and what is copied out of it.
func buildCommand(t *testing.T, dockerfile string) build {
	t.Helper()
	var b build
	for line := range strings.Lines(regexp.MustCompile(`\\\n\s*`).ReplaceAllString(dockerfile, "")) {
		if strings.HasPrefix(line, "RUN ") && strings.Contains(line, "go build") {
			if b.command != "" {
				t.Fatal("the Dockerfile builds twice")
			}
			b.command = strings.TrimSpace(mounts.ReplaceAllString(line, ""))
		}
	}
	out := copiesOut.FindStringSubmatch(dockerfile)
	if b.command == "" || out == nil {
		t.Fatal("the Dockerfile has no go build, or does not copy its program to /seckill")
	}
	b.program = out[1]
	return b
}

// mustBeStatic fails if the program needs anything of the image that it runs in.
func mustBeStatic(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the program is not static: it has %s", p.Type)
		}
	}
}

// imageEnvironment is the environment that the Dockerfile sets.
func imageEnvironment(t *testing.T) map[string]string {
	t.Helper()
	env := map[string]string{}
	for line := range strings.Lines(read(t, "../Dockerfile")) {
		settings, ok := strings.CutPrefix(line, "ENV ")
		if !ok {
			continue
		}
		for _, setting := range strings.Fields(settings) {
			name, value, _ := strings.Cut(setting, "=")
			env[name] = value
		}
	}
	return env
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
