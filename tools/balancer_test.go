package tools

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// mustBalance runs the balancer with its file before the instances.
func (d *deployment) mustBalance(t *testing.T) {
	url := d.startBalancer(t)
	item := publish(t, url)
	for _, path := range []string{"/metrics", "/%6detrics", "/metrics/"} {
		if got := newShopper(t, url).call(http.MethodGet, path); got.status != http.StatusNotFound {
			t.Errorf("outsiders get %d from %s", got.status, path)
		}
	}
	mustOpenSocket(t, url, item)
	newShopper(t, url).mustWin(item)
	d.mustRestartUnnoticed(t, url, item)
	d.mustAnswerWithoutSQL(t, url, item)
}

// startBalancer runs HAProxy with the set-up's file, and returns where.
func (d *deployment) startBalancer(t *testing.T) (url string) {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/haproxy")
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("haproxy is missing")
		}
		t.Skip("skipped: install haproxy to run the balancer")
	}
	address := freeAddress(t)
	// The container has more file descriptors than a test may.
	places := []string{"bind :8080", "bind " + address, "maxconn 20000", "maxconn 1000"}
	for _, i := range d.instances {
		places = append(places, " "+i.name+":8080", " "+i.address())
	}
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(file, []byte(strings.NewReplacer(places...).Replace(read(t, "../deploy/haproxy.cfg"))), 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd := exec.Command(program, "-db", "-f", file)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("balancer: %s", log.String())
		}
	})
	url = "http://" + address
	eventually(t, "the balancer has instances that are ready", func() bool { return ready(url) })
	return url
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func ready(url string) bool {
	resp, err := http.Get(url + "/readyz")
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// eventually waits for outside processes.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 20 s: %s", what)
		}
	}
}

// mustRestartUnnoticed restarts one instance after the other while buyers click, and fails if one of them notices.
func (d *deployment) mustRestartUnnoticed(t *testing.T, url, item string) {
	t.Helper()
	var clicking sync.WaitGroup
	var over atomic.Bool
	var clicks, lost atomic.Int64
	for range 4 {
		clicking.Go(func() {
			for buyer := newShopper(t, url); !over.Load(); buyer.forget() {
				clicks.Add(1)
				if got := buyer.call(http.MethodPost, "/api/v1/items/"+item+"/buy"); got.status != http.StatusAccepted {
					lost.Add(1)
					t.Logf("click: %d %v %s", got.status, got.err, got.body)
				}
			}
		})
	}
	for n := range d.instances {
		d.restart(t, n)
		at := d.instances[n].url
		eventually(t, at+" is ready", func() bool { return ready(at) })
		time.Sleep(time.Second) // the balancer, an outside process, asks twice
	}
	over.Store(true)
	clicking.Wait()
	if clicks.Load() < 100 || lost.Load() > 0 {
		t.Errorf("%d of %d clicks were lost", lost.Load(), clicks.Load())
	}
	t.Logf("%d clicks during the restarts", clicks.Load())
}

// mustAnswerWithoutSQL freezes the database, of which no instance is ready any more, and fails unless clicks still reach
// the instances and are decided when it is back.
func (d *deployment) mustAnswerWithoutSQL(t *testing.T, url, item string) {
	t.Helper()
	buyer := newShopper(t, url)
	d.sql.Freeze()
	defer d.sql.Thaw()
	eventually(t, "no instance is ready", func() bool { return !ready(d.instances[0].url) && !ready(d.instances[1].url) })
	time.Sleep(3 * time.Second) // the balancer, an outside process, asks and waits
	got := buyer.call(http.MethodPost, "/api/v1/items/"+item+"/buy")
	var told struct{ Ticket string }
	if err := json.Unmarshal(got.body, &told); err != nil || got.status != http.StatusAccepted {
		t.Errorf("click without a database: %d %v %s", got.status, got.err, got.body)
	}
	d.sql.Thaw()
	eventually(t, "the verdict", func() bool { return ready(url) && buyer.status(told.Ticket) == "won" })
}

// mustOpenSocket opens a socket through the balancer and reads its first message.
func mustOpenSocket(t *testing.T, url, item string) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/api/v1/ws?item="+item, nil)
	if err != nil {
		t.Fatalf("socket: %v", err)
	}
	defer conn.Close()
	_ = resp.Body.Close()
	var first struct{ Type string }
	if err := conn.ReadJSON(&first); err != nil || first.Type != "state" {
		t.Errorf("the socket says %q, %v", first.Type, err)
	}
}

// shopper is a guest.
type shopper struct {
	t    *testing.T
	url  string
	http *http.Client
}

func newShopper(t *testing.T, url string) *shopper {
	s := &shopper{t: t, url: url, http: &http.Client{Timeout: 20 * time.Second}}
	s.forget()
	return s
}

// forget makes the shopper another one, on the same connection.
func (s *shopper) forget() { s.http.Jar, _ = cookiejar.New(nil) } // never fails

// answer is what a call got.
type answer struct {
	status int
	body   []byte
	err    error
}

func (s *shopper) call(method, path string) answer {
	req, err := http.NewRequest(method, s.url+path, nil)
	if err != nil {
		return answer{err: err}
	}
	return do(s.http, req)
}

func do(client *http.Client, req *http.Request) answer {
	resp, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, body, err}
}

// mustWin buys, or goes on with the ticket that the shopper has, until the verdict, and returns the ticket.
func (s *shopper) mustWin(item string) (ticket string) {
	s.t.Helper()
	var told struct{ Ticket, Status string }
	eventually(s.t, "a ticket", func() bool {
		got := s.call(http.MethodPost, "/api/v1/items/"+item+"/buy")
		err := json.Unmarshal(got.body, &told)
		return err == nil && got.status == http.StatusAccepted
	})
	eventually(s.t, "a verdict", func() bool {
		err := json.Unmarshal(s.call(http.MethodGet, "/api/v1/tickets/"+told.Ticket).body, &told)
		return err == nil && told.Status != "queued" && told.Status != ""
	})
	if told.Status != "won" {
		s.t.Errorf("the ticket ended as %s", told.Status)
	}
	return told.Ticket
}

// publish puts a new item on sale, of which there is enough, and returns its id.
func publish(t *testing.T, url string) string {
	t.Helper()
	body := `{"title":"Kettle","price":{"amount":19900,"currency":"CNY"},"stock":100000}`
	req, err := http.NewRequest(http.MethodPost, url+"/api/v1/admin/items", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	req.Header.Set("Content-Type", "application/json")
	got := do(http.DefaultClient, req)
	var item struct{ ID string }
	if err := json.Unmarshal(got.body, &item); err != nil || got.status != http.StatusCreated {
		t.Fatalf("publish: %d %v %s", got.status, got.err, got.body)
	}
	return item.ID
}
