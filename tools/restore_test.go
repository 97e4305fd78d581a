package tools

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// backups is the commands of docs/operations.md that save and restore each set-up.
type backups struct{ saveSmall, saveLarge, restoreSmall, restoreLarge string }

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

func readBackups(t *testing.T) backups {
	t.Helper()
	_, rest, _ := strings.Cut(read(t, "../docs/operations.md"), "\n## Backup\n")
	blocks := shellBlock.FindAllStringSubmatch(rest, -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of commands from Backup on, want four", len(blocks))
	}
	return backups{blocks[0][1], blocks[1][1], blocks[2][1], blocks[3][1]}
}

// operator runs commands of the documentation. For what has no place in a test there are others of the same name.
type operator struct {
	t   *testing.T
	dir string
	env []string
}

// inPlaceOf has what runs in place of a program: docker runs a command where the servers of the test are found, and
// leaves starts and stops to the test, as seckill does.
var inPlaceOf = map[string]string{
	"docker": `[ "$1" = compose ] || exit 64
case "$2" in stop|up) exit 0;; exec) shift 2;; *) exit 64;; esac
[ "$1" = -T ] && shift
case "$1" in
mariadb) shift; exec "$@";;
redis) [ "$2" = redis-cli ] || exit 64; shift 2; exec redis-cli -p "$REDIS_PORT" "$@";;
app1) [ "$2" = /seckill ] || exit 64; shift 2; exec "$PROGRAM" "$@";;
esac
exit 64`,
	"seckill": `[ "$1" = serve ] || exec "$PROGRAM" "$@"`,
}

func newOperator(t *testing.T, program string, env ...string) *operator {
	t.Helper()
	for _, name := range []string{"bash", "sqlite3", "mariadb", "mariadb-dump"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is missing", name)
			}
			t.Skipf("skipped: install %s to try backups", name)
		}
	}
	o := &operator{t: t, dir: t.TempDir()}
	for name, script := range inPlaceOf {
		if err := os.WriteFile(filepath.Join(o.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o.env = append(env, "PATH="+o.dir+":"+os.Getenv("PATH"), "HOME="+o.dir, "PROGRAM="+program)
	return o
}

// write makes a file in the directory where the commands run.
func (o *operator) write(name, text string) {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.dir, name), []byte(text), 0o600); err != nil {
		o.t.Fatal(err)
	}
}

// run runs commands until one fails, which fails the test.
func (o *operator) run(commands string) {
	o.t.Helper()
	cmd := exec.Command("bash", "-e", "-o", "pipefail", "-c", commands)
	cmd.Dir, cmd.Env = o.dir, o.env
	if out, err := cmd.CombinedOutput(); err != nil {
		o.t.Fatalf("%v\n%s\n%s", err, commands, out)
	}
}

// mustRestoreSmall saves a running small shop and restores it to before a sale.
func (d *deployment) mustRestoreSmall(t *testing.T) {
	root := t.TempDir()
	data, backup := filepath.Join(root, "data"), filepath.Join(root, "backup")
	if err := os.Mkdir(backup, 0o700); err != nil {
		t.Fatal(err)
	}
	at := func(commands string) string {
		return strings.NewReplacer("/var/lib/seckill", data, "/backup", backup).Replace(commands)
	}
	env := map[string]string{"SECKILL_DATA": data, "SECKILL_ADMIN_TOKEN": adminToken, "SECKILL_ADMIN_PASSWORD": "password"}
	o, commands := newOperator(t, d.program), readBackups(t)
	shop := d.start(t, "small", "127.0.0.1:0", env)
	mustRestore(t, shop.url, func() { o.run(at(commands.saveSmall)) }, func() {
		shop.stop(t)
		o.run(at(commands.restoreSmall))
		d.start(t, "small", shop.address(), env)
	})
}

// mustRestoreLarge does the same to the large shop.
func (d *deployment) mustRestoreLarge(t *testing.T) {
	host, port, err := net.SplitHostPort(d.database)
	if err != nil {
		t.Fatal(err)
	}
	_, redisPort, _ := strings.Cut(d.redis, ":")
	app := d.command(t, "", d.instances[0].env)
	o := newOperator(t, d.program, append(app.Env, "REDIS_PORT="+redisPort, "REDISCLI_AUTH="+required["REDIS_PASSWORD"],
		"MARIADB_PASSWORD="+required["MARIADB_PASSWORD"])...)
	o.write(".my.cnf", "[client]\nhost="+host+"\nport="+port+"\nprotocol=tcp\n")
	o.write(".env", "")
	commands := readBackups(t)
	mustRestore(t, d.instances[0].url, func() { o.run(commands.saveLarge) }, func() {
		for _, i := range d.instances {
			i.stop(t)
		}
		o.run(commands.restoreLarge)
		for n, i := range d.instances {
			d.instances[n] = d.start(t, i.name, i.address(), i.env)
		}
	})
}

// mustRestore sells before and after a backup, and fails unless after the restore what was sold before stands, what was
// sold later is told that it is lost, and the sale goes on.
func mustRestore(t *testing.T, url string, save, restore func()) {
	t.Helper()
	item := publish(t, url)
	before, after := newShopper(t, url), newShopper(t, url)
	kept := before.mustWin(item)
	save()
	gone := after.mustWin(item)
	restore()
	newShopper(t, url).mustWin(item)
	if got := before.status(kept); got != "won" {
		t.Errorf("what was sold before the backup is %s", got)
	}
	if got := after.status(gone); got != "lost" {
		t.Errorf("what was sold after the backup is %s", got)
	}
	after.mustWin(item)
}

// status is a ticket's.
func (s *shopper) status(ticket string) string {
	s.t.Helper()
	var told struct{ Status string }
	got := s.call(http.MethodGet, "/api/v1/tickets/"+ticket)
	if err := json.Unmarshal(got.body, &told); err != nil || got.status != http.StatusOK {
		s.t.Errorf("ticket: %d %v %s", got.status, got.err, got.body)
	}
	return told.Status
}
