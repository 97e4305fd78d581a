package tools

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"seckill/model/queue/redistest"
	"seckill/model/store/mariadbtest"
)

// TestDeployment builds the program as the image does, and runs it with what docker-compose.yml gives it, beside a Redis,
// a MariaDB and a balancer that run with what the file gives them, all without containers.
func TestDeployment(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program as the image does")
	}
	t.Parallel()
	d := &deployment{whole: t, program: buildImage(t)}
	mustBeStatic(t, d.program)
	mustReadAll(t, d.program)

	project := setUp(t)
	redis := project.Services["redis"].Command
	d.redis = startRedis(t, redis)
	d.database, d.sql = startMariaDB(t, project.Services["mariadb"].Command)
	for _, name := range apps(project) {
		d.instances = append(d.instances, d.start(t, name, "127.0.0.1:0", environment(project.Services[name])))
	}
	d.mustRefuseEviction(t, redis)
	for _, i := range d.instances {
		newShopper(t, i.url).mustWin(publish(t, i.url))
	}
	t.Run("balancer", d.mustBalance)
	t.Run("restore the small shop", d.mustRestoreSmall)
	t.Run("restore the large shop", d.mustRestoreLarge)
}

// mustReadAll fails if a variable of the image or of a service is none of the program's.
func mustReadAll(t *testing.T, program string) {
	t.Helper()
	read := variables(t, program)
	if wrong := unread(imageEnvironment(t), read); len(wrong) > 0 {
		t.Errorf("the image sets %v, which the program does not read", wrong)
	}
	project := setUp(t)
	for _, name := range apps(project) {
		env := environment(project.Services[name])
		if wrong := unread(env, read); len(wrong) > 0 {
			t.Errorf("%s sets %v, which the program does not read", name, wrong)
		}
		env["SECKILL_REDIZ"] = ""
		if wrong := unread(env, read); len(wrong) == 0 {
			t.Error("a variable that nobody reads was not found")
		}
	}
}

// deployment is the set-up, with private servers in the places of its services.
type deployment struct {
	whole           *testing.T // until whose end instances run
	program         string
	redis, database string // host:port
	sql             *mariadbtest.Server
	instances       []*instance
}

// startRedis runs a service's command, and returns where.
func startRedis(t *testing.T, command []string) (address string) {
	t.Helper()
	if command[0] != "redis-server" {
		t.Fatalf("redis runs %v", command)
	}
	settings := slices.Clone(command[1:])
	at := slices.Index(settings, "--requirepass")
	if at < 0 {
		t.Fatal("redis has no password")
	}
	password := settings[at+1]
	// What waits for the start has no password.
	server := redistest.Start(t, slices.Delete(settings, at, at+2)...)
	server.Do("CONFIG", "SET", "requirepass", password)
	return server.Address()
}

// startMariaDB runs a service's options, with the database and the user that the image makes, and returns where.
func startMariaDB(t *testing.T, options []string) (address string, _ *mariadbtest.Server) {
	t.Helper()
	server := mariadbtest.Start(t, options...)
	server.Exec(t, "CREATE DATABASE seckill", "GRANT ALL ON seckill.* TO seckill@'127.0.0.1'",
		"ALTER USER seckill@'127.0.0.1' IDENTIFIED BY '"+required["MARIADB_PASSWORD"]+"'",
		"REVOKE ALL ON *.* FROM seckill@'127.0.0.1'")
	return server.Addr(), server
}

// command is the program with the environment of a service, but for where it and the others are.
func (d *deployment) command(t *testing.T, listen string, env map[string]string) *exec.Cmd {
	t.Helper()
	// What names no directory may not need one: the containers have none that can be written to.
	all := map[string]string{"SECKILL_DATA": "/proc/none"}
	maps.Copy(all, env)
	all["SECKILL_LISTEN"] = listen
	cmd := exec.Command(d.program, "serve")
	cmd.Dir, cmd.Env = t.TempDir(), []string{}
	places := strings.NewReplacer("@redis:6379", "@"+d.redis, "@mariadb:3306", "@"+d.database)
	for name, value := range all {
		cmd.Env = append(cmd.Env, name+"="+places.Replace(value))
	}
	return cmd
}

// instance is a running program.
type instance struct {
	name, url string
	env       map[string]string
	process   *exec.Cmd
	log       *bytes.Buffer
}

// start runs an instance that listens on HOST:PORT, until the whole test ends.
func (d *deployment) start(t *testing.T, name, listen string, env map[string]string) *instance {
	t.Helper()
	i := &instance{name: name, env: env, process: d.command(t, listen, env), log: &bytes.Buffer{}}
	i.process.Stderr = i.log
	out, err := i.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := i.process.Start(); err != nil {
		t.Fatal(err)
	}
	d.whole.Cleanup(func() {
		_ = i.process.Process.Kill()
		_ = i.process.Wait()
		if d.whole.Failed() {
			d.whole.Logf("%s: %s", name, i.log)
		}
	})
	if _, err := fmt.Fscanf(out, "listening on %s\n", &i.url); err != nil {
		t.Fatalf("%s does not listen: %v", name, err)
	}
	return i
}

// address is its host and port.
func (i *instance) address() string { return strings.TrimPrefix(i.url, "http://") }

// stop ends an instance well.
func (i *instance) stop(t *testing.T) {
	t.Helper()
	if err := i.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := i.process.Wait(); err != nil {
		t.Errorf("%s stopped with %v", i.name, err)
	}
}

// restart stops an instance as an upgrade does, and starts it again in its place.
func (d *deployment) restart(t *testing.T, n int) {
	t.Helper()
	old := d.instances[n]
	old.stop(t)
	d.instances[n] = d.start(t, old.name, old.address(), old.env)
}

// mustRefuseEviction fails unless the program turns down a Redis that may evict keys, and says why.
func (d *deployment) mustRefuseEviction(t *testing.T, redis []string) {
	t.Helper()
	evicting := slices.Clone(redis)
	at := slices.Index(evicting, "noeviction")
	if at < 0 {
		t.Fatalf("redis runs %v", redis)
	}
	evicting[at] = "allkeys-lru"
	other := &deployment{program: d.program, redis: startRedis(t, evicting), database: d.database}
	out, err := other.command(t, "127.0.0.1:0", d.instances[0].env).CombinedOutput()
	if !errors.As(err, new(*exec.ExitError)) || !strings.Contains(string(out), "noeviction") {
		t.Errorf("with a Redis that evicts keys: %v\n%s", err, out)
	}
}
