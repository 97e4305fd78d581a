package main_test

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"seckill/model/queue/redistest"
	"seckill/model/store/mariadbtest"
)

// shop is the production set-up: instances of the program on one Redis and one MariaDB, which are the test's own, and a
// balancer before them. The embedded program is the balancer: who calls it reaches an instance by chance.
type shop struct {
	*program
	balancer *balancer
	redis    *redistest.Server
	keys     *redis.Client // of the instances' database
	maria    *mariadbtest.Server
	dsn      string // of MariaDB, as the program takes it
	db       *sql.DB
	apps     []*program
}

// plan is what a shop has beside two instances on a Redis and a MariaDB that keep what they have answered when killed.
type plan struct {
	args  [][]string // further ones of each instance; none: two instances without
	redis []string   // settings of redis-server
	maria []string   // options of mariadbd
	// proxy is the address that stands before MariaDB's, nil for none.
	proxy func(addr string) string
	// points tells whether the instances are of a build with points at which a test can hold them.
	points bool
}

const shopDB = 3 // not the one that clients take by themselves

// openShop starts the servers, then all instances at once on the empty database.
func openShop(t *testing.T, with plan) *shop {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	if with.args == nil {
		with.args = make([][]string, 2)
	}
	s := &shop{
		redis: redistest.Start(t, append([]string{"--appendonly", "yes", "--auto-aof-rewrite-percentage", "0"}, with.redis...)...),
		maria: mariadbtest.Start(t, append([]string{"--innodb-flush-log-at-trx-commit=1"}, with.maria...)...),
	}
	s.keys = s.redis.Client(shopDB)
	name, addr := s.maria.Database(t), s.maria.Addr()
	s.db = openMaria(t, addr, name)
	if with.proxy != nil {
		addr = with.proxy(addr)
	}
	s.dsn = mariadbtest.DSN(addr, name)
	s.balancer = newBalancer(t)
	s.program = &program{t: t, url: "http://" + s.balancer.Addr().String()}
	for _, args := range with.args {
		s.apps = append(s.apps, newProgram(t, append([]string{"--redis", s.redis.URL(shopDB), "--database", s.dsn,
			"--secret", strings.Repeat("shared", 6), "--admin-token", adminToken, "--buyers", "header",
			"--trusted-proxies", "127.0.0.1/32", "--demo=false"}, args...)...))
	}
	if with.points {
		s.givePoints()
	}
	s.launch(s.apps...)
	return s
}

func openMaria(t *testing.T, addr, name string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", fmt.Sprintf("seckill@tcp(%s)/%s", addr, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// launch starts instances together and puts them behind the balancer.
func (s *shop) launch(apps ...*program) {
	s.t.Helper()
	var starting sync.WaitGroup
	for _, app := range apps {
		starting.Go(app.launch)
	}
	starting.Wait()
	if s.t.Failed() {
		s.t.FailNow() // what failed has said so
	}
	for _, app := range apps {
		s.balancer.add(app.url)
	}
}

// killApp takes an instance from the balancer when it is dead: clicks under way break.
func (s *shop) killApp(app *program) {
	s.t.Helper()
	app.kill()
	s.balancer.remove(app.url)
}

// freeze stops an instance in its tracks: what was sent to it waits. The balancer sends it nothing new.
func (s *shop) freeze(app *program) {
	s.t.Helper()
	s.balancer.remove(app.url)
	if err := app.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
}

// thaw lets a frozen instance go on.
func (s *shop) thaw(app *program) {
	s.t.Helper()
	if err := app.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
	s.balancer.add(app.url)
}

// mustHold fails the test unless the audit finds every promise kept and no instance has reported a race or a panic.
func (s *shop) mustHold() {
	s.t.Helper()
	report, code := auditOf(s.t, "--database", s.dsn)
	if code != 0 || !report.OK || len(report.Checks) == 0 {
		s.t.Errorf("audit ended with %d: %+v", code, report)
	}
	for _, app := range s.apps {
		app.mustBeSane()
	}
}

// insist clicks until it is told 202 or a reason of the sale's own, and returns that answer. What it hears before may only
// be 503, or nothing from an instance that has died.
func (c *client) insist(itemID string, within time.Duration) (a answer, err error) {
	heard := ask(within, func() bool {
		a, err = c.tryBuy(itemID, 0)
		return err == nil && a.status != http.StatusServiceUnavailable
	})
	if !heard {
		return a, fmt.Errorf("no answer to a click within %s: %d %.200s, %w", within, a.status, a.body, err)
	}
	return a, nil
}

// insistAll lets every buyer click until there is an answer, 32 at a time, and returns the clicks by buyer.
func (s *shop) insistAll(itemID string, buyers []string) []click {
	s.t.Helper()
	tr := crowd(s.t)
	log := make([]click, len(buyers))
	const together = 32
	var clicking sync.WaitGroup
	for first := range together {
		clicking.Go(func() {
			for n := first; n < len(buyers); n += together {
				line := click{buyer: buyers[n], sent: time.Now()}
				line.answer, line.err = s.buyer(tr, buyers[n]).insist(itemID, 20*time.Second)
				line.answered = time.Now()
				log[n] = line
			}
		})
	}
	clicking.Wait()
	for n := range log {
		if log[n].err != nil {
			s.t.Fatalf("buyer %s: %v", log[n].buyer, log[n].err)
		}
		if log[n].answer.status == http.StatusAccepted {
			log[n].ticket = decode[ticket](s.t, log[n].answer)
		}
	}
	return log
}

// emptyLine waits until every ticket of the item is decided, also through an outage.
func (s *shop) emptyLine(itemID string) {
	s.t.Helper()
	admin := s.admin()
	eventually(s.t, 20*time.Second, "the line is empty", func() bool {
		a, err := admin.try("GET", "/api/v1/admin/items/"+itemID, "", "")
		return err == nil && a.status == http.StatusOK && decode[item](s.t, a).Queued == 0
	})
}

// resume lets a paused item go on, as soon as the gate can be told.
func (s *shop) resume(itemID string) {
	s.t.Helper()
	admin := s.admin()
	eventually(s.t, 10*time.Second, "the sale is resumed", func() bool {
		a, err := admin.try("POST", "/api/v1/admin/items/"+itemID+"/resume", "", "")
		return err == nil && a.status == http.StatusOK
	})
}
