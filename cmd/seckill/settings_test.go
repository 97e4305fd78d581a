package main

import (
	"bytes"
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// settingsRun is one run of the program inside the test.
type settingsRun struct {
	environ        map[string]string
	stdin          string
	stdout, stderr bytes.Buffer
}

func (r *settingsRun) program() program {
	return program{stdin: strings.NewReader(r.stdin), stdout: &r.stdout, stderr: &r.stderr,
		environ: func(name string) (string, bool) { v, ok := r.environ[name]; return v, ok }}
}

func (r *settingsRun) run(ctx context.Context, args ...string) int { return r.program().run(ctx, args) }

// settings parses and checks a command line of serve.
func (r *settingsRun) settings(args ...string) (settings, error) {
	c, err := r.program().parse(args)
	if err != nil {
		return settings{}, err
	}
	return c.settings()
}

const settingsSecret = "0123456789abcdef0123456789abcdef" // the least that is enough

func TestSettingsByDefault(t *testing.T) {
	t.Parallel()
	s, err := new(settingsRun).settings()
	if err != nil {
		t.Fatal(err)
	}
	if s.data != "./data" || s.database != "data/seckill.db" || s.listen != "127.0.0.1:8080" || s.buyers != "guest" ||
		s.queueLimit != 2_000_000 || s.maxSockets < 1 || s.demo != "" || s.secrets != nil || s.adminToken != "" {
		t.Errorf("%+v", s)
	}
}

func TestSettingsAsGiven(t *testing.T) {
	t.Parallel()
	s, err := new(settingsRun).settings("--data=d", "--database", "sqlite:///var/x.db", "--listen=:0", "--base-url=https://shop.example/",
		"--buyers=header", "--trusted-proxies=10.1.2.3/8, ::1/128", "--secret="+settingsSecret+","+settingsSecret+"old",
		"--admin-token=0123456789abcdef", "--admin-password=pw", "--demo", "--queue-limit=7", "--max-sockets=8")
	if err != nil {
		t.Fatal(err)
	}
	if s.data != "d" || s.database != "/var/x.db" || s.listen != ":0" || s.baseURL != "https://shop.example" ||
		s.buyers != "header" || s.adminToken != "0123456789abcdef" || s.adminPassword != "pw" || s.demo != "true" ||
		s.queueLimit != 7 || s.maxSockets != 8 {
		t.Errorf("%+v", s)
	}
	if want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}; !slices.Equal(s.trusted, want) {
		t.Errorf("trusted %v", s.trusted)
	}
	if len(s.secrets) != 2 || string(s.secrets[0]) != settingsSecret || string(s.secrets[1]) != settingsSecret+"old" {
		t.Errorf("secrets %q", s.secrets)
	}
}

func TestEachWrongSetting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ arg, line string }{
		{"--data=", "--data: is empty"},
		{"--database=seckill.db", "--database: is no URL"},
		{"--database=sqlite://", "--database: has no path"},
		{"--database=postgres://root:hidden@db/shop", "--database: postgres is not supported"},
		{"--database=mysql://root:hidden@db/shop", "--redis: is required with MySQL"},
		{"--redis=redis://:hidden@cache:6379/0", "--secret: is required with --redis"},
		{"--role=seller", `--role: "seller" is none of all, web, worker`},
		{"--role=web", "--role: web needs --redis and MySQL"},
		{"--listen=8080", `--listen: "8080" is not HOST:PORT`},
		{"--listen=:http", `--listen: port "http" is not a number`},
		{"--listen=:65536", `--listen: port "65536" is not a number`},
		{"--base-url=shop.example", "--base-url: is no address"},
		{"--base-url=ftp://shop.example", "--base-url: is no address"},
		{"--base-url=https://a:b@shop.example", "--base-url: is no address"},
		{"--base-url=https://shop.example/sale", "--base-url: has more than"},
		{"--base-url=https://shop.example?x", "--base-url: has more than"},
		{"--base-url=https://shop.example#", "--base-url: has more than"},
		{"--buyers=account", `--buyers: "account" is none of guest, header`},
		{"--buyers=header", "--trusted-proxies: is required with --buyers header"},
		{"--trusted-proxies=10.0.0.1", `--trusted-proxies: "10.0.0.1" is no CIDR`},
		{"--trusted-proxies=10.0.0.0/8,", `--trusted-proxies: "" is no CIDR`},
		{"--secret=" + settingsSecret[1:], "--secret: secret 1 has fewer than 32 bytes"},
		{"--secret=" + settingsSecret + ",old", "--secret: secret 2 has fewer than 32 bytes"},
		{"--admin-token=0123456789abcde", "--admin-token: has fewer than 16 characters"},
		{"--demo=perhaps", `--demo: "perhaps" is neither true nor false`},
		{"--queue-limit=0", `--queue-limit: "0" is not a whole number from 1`},
		{"--queue-limit=1e3", `--queue-limit: "1e3" is not a whole number`},
		{"--max-sockets=-1", `--max-sockets: "-1" is not a whole number`},
		{"--push-url=https://x", "--push-url: unknown flag"},
		{"--listen", "--listen: "},
		{"srve", "unexpected argument srve"},
	} {
		t.Run(c.arg, func(t *testing.T) {
			t.Parallel()
			var r settingsRun
			code := r.run(t.Context(), c.arg)
			said := r.stderr.String()
			if code != exitWrong || !strings.HasPrefix(said, c.line) || strings.Count(said, "\n") != 1 {
				t.Errorf("exit code %d and %q, want 2 and one line %q", code, said, c.line)
			}
			if strings.Contains(said, "hidden") || r.stdout.Len() > 0 {
				t.Errorf("said too much: %q, %q", said, r.stdout.String())
			}
		})
	}
}

func TestSettingsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	const dsn, redis, secret = "--database=mysql://u:hidden@db:3307/shop", "--redis=redis://:hidden@cache:6379/2", "--secret=" + settingsSecret
	for role, args := range map[string][]string{
		"all":    {dsn, redis, secret, "--data="},
		"web":    {dsn, redis, secret, "--role=web"},
		"worker": {dsn, redis, secret, "--role=worker"},
	} {
		s, err := new(settingsRun).settings(args...)
		if err != nil || s.role != role || s.dsn() != "mysql://u:hidden@db:3307/shop" || s.redis != "redis://:hidden@cache:6379/2" {
			t.Errorf("%s: %+v, %v", role, s, err)
		}
	}
	// One process on SQLite may have its queue on Redis.
	if s, err := new(settingsRun).settings(redis, secret); err != nil || s.dsn() != "sqlite://data/seckill.db" || s.role != "all" {
		t.Errorf("%+v, %v", s, err)
	}
	for name, c := range map[string]struct {
		args  []string
		lines []string
	}{
		"a worker on SQLite":         {[]string{redis, secret, "--role=worker"}, []string{"--role: worker needs"}},
		"a worker without Redis":     {[]string{dsn, "--role=worker"}, []string{"--redis: is required", "--role: worker needs"}},
		"wrong addresses":            {[]string{"--database=mysql://u:hidden@db", "--redis=redis://:hidden@/x?y", secret}, []string{"--database: want mysql://", "--redis: is no address"}},
		"a database number":          {[]string{"--redis=redis://cache/one", secret}, []string{"--redis: is no address"}},
		"a secret that is too short": {[]string{redis, "--secret=x"}, []string{"--secret: secret 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := new(settingsRun).settings(c.args...)
			if err == nil || strings.Contains(err.Error(), "hidden") {
				t.Fatal(err)
			}
			lines := strings.Split(err.Error(), "\n")
			if !slices.EqualFunc(lines, c.lines, strings.HasPrefix) {
				t.Errorf("%q, want %q", lines, c.lines)
			}
		})
	}
}

func TestAllWrongSettingsAtOnce(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	r := settingsRun{environ: map[string]string{"SECKILL_QUEUE_LIMIT": "many", "SECKILL_SECRET_FILE": "/no/such/file"}}
	code := r.run(t.Context(), "serve", "--data", data, "--push-url", "https://x", "--listen=x", "--buyers=x", "--frob=1",
		"--admin-token=x")
	var flags []string
	for line := range strings.Lines(r.stderr.String()) {
		flag, _, _ := strings.Cut(line, ":")
		flags = append(flags, flag)
	}
	want := []string{"--push-url", "--frob", "--secret", "--listen", "--buyers", "--queue-limit", "--admin-token"}
	if code != exitWrong || !slices.Equal(flags, want) {
		t.Errorf("exit code %d, lines of %v, want 2 and %v", code, flags, want)
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("something was started: the data directory was made")
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		environ map[string]string
		args    []string
		want    string // token | listen | demo
		wrong   string
	}{
		"variable":             {map[string]string{"SECKILL_ADMIN_TOKEN": "token-of-the-environment"}, nil, "token-of-the-environment|127.0.0.1:8080|", ""},
		"flag goes before":     {map[string]string{"SECKILL_LISTEN": ":1", "SECKILL_DEMO": "true"}, []string{"--listen=:2", "--demo=false"}, "|:2|false", ""},
		"toggle":               {map[string]string{"SECKILL_DEMO": "false"}, nil, "|127.0.0.1:8080|false", ""},
		"empty is none":        {map[string]string{"SECKILL_LISTEN": ""}, nil, "|127.0.0.1:8080|", ""},
		"file, newline cut":    {map[string]string{"SECKILL_ADMIN_TOKEN_FILE": file("token of a file.\n")}, nil, "token of a file.|127.0.0.1:8080|", ""},
		"only one newline cut": {map[string]string{"SECKILL_ADMIN_TOKEN_FILE": file("token of a file.\n\n")}, nil, "token of a file.\n|127.0.0.1:8080|", ""},
		"flag before file":     {map[string]string{"SECKILL_ADMIN_TOKEN_FILE": "/no/such"}, []string{"--admin-token=token-of-the-flag"}, "token-of-the-flag|127.0.0.1:8080|", ""},
		"both":                 {map[string]string{"SECKILL_ADMIN_TOKEN": "x", "SECKILL_ADMIN_TOKEN_FILE": "y"}, nil, "", "--admin-token: SECKILL_ADMIN_TOKEN and SECKILL_ADMIN_TOKEN_FILE are both set"},
		"no file for others":   {map[string]string{"SECKILL_LISTEN_FILE": file(":9")}, nil, "|127.0.0.1:8080|", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := settingsRun{environ: c.environ}
			s, err := r.settings(c.args...)
			if c.wrong != "" {
				if err == nil || err.Error() != c.wrong {
					t.Errorf("error %v, want %s", err, c.wrong)
				}
				return
			}
			if got := s.adminToken + "|" + s.listen + "|" + string(s.demo); err != nil || got != c.want {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, says string }{
		{"--help", "--data=DIR"}, {"serve --help", "--trusted-proxies"}, {"audit --help", "--json"}, {"version", "seckill "},
	} {
		var r settingsRun
		if code := r.run(t.Context(), strings.Fields(c.args)...); code != exitOK || !strings.Contains(r.stdout.String(), c.says) {
			t.Errorf("%s: exit code %d, %q", c.args, code, r.stdout.String())
		}
	}
}
