package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// dial opens a socket of the item as the buyer.
func (p *program) dial(itemID, buyer string) *websocket.Conn {
	p.t.Helper()
	conn, res, err := websocket.DefaultDialer.DialContext(p.t.Context(),
		"ws"+strings.TrimPrefix(p.url, "http")+"/api/v1/ws?item="+itemID, http.Header{"X-Buyer-Id": {buyer}})
	if err != nil {
		p.t.Fatalf("dial: %v %v", err, res)
	}
	_ = res.Body.Close()
	p.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// closing reads a socket to its end and tells when and how it was closed.
type closing struct {
	at  time.Time
	err error
}

func readToEnd(conn *websocket.Conn) closing {
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return closing{time.Now(), err}
		}
	}
}

// TestStopUnderLoad: SIGTERM in the middle of a rush with 200 sockets open. The program says that it is not ready,
// closes every socket with 1001 within 2 s, ends with 0 within 10 s, and loses no ticket that it has accepted.
func TestStopUnderLoad(t *testing.T) {
	p := start(t)
	it := p.admin().publish(map[string]any{"stock": 700})
	ends := make(chan closing, 200)
	for _, id := range names("page", cap(ends)) {
		conn := p.dial(it.ID, id)
		go func() { ends <- readToEnd(conn) }()
	}
	readiness := p.watchReady()
	log, told := p.rush(it.ID, 1000)
	for range 200 {
		<-told
	}

	asked := time.Now()
	code, took := p.stop()
	if code != 0 || took > 10*time.Second {
		t.Errorf("the program ended with %d after %s", code, took)
	}
	for range cap(ends) {
		end := <-ends
		if !websocket.IsCloseError(end.err, websocket.CloseGoingAway) {
			t.Fatalf("a socket ended with %v, want 1001", end.err)
		}
		if late := end.at.Sub(asked); late > 2*time.Second {
			t.Errorf("a socket was closed after %s", late)
		}
	}
	if seen := <-readiness; seen == 0 {
		t.Error("/readyz never answered 503 after SIGTERM")
	}

	held := log()
	p.launch()
	p.settleRound(it.ID, held)
	p.mustHold()
	t.Logf("stopped in %s with %d tickets accepted", took.Round(time.Millisecond), len(held))
}

// watchReady asks /readyz over and over until the program is gone, and tells how many answers were 503.
func (p *program) watchReady() <-chan int {
	c, seen := p.client(nil), make(chan int, 1)
	if a := c.get("/readyz"); a.status != http.StatusOK {
		p.t.Fatalf("/readyz: %d %s", a.status, a.body)
	}
	go func() {
		n := 0
		defer func() { seen <- n }()
		for {
			a, err := c.try("GET", "/readyz", "", "")
			switch {
			case err != nil:
				return
			case a.status == http.StatusServiceUnavailable:
				n++
			case n > 0:
				p.t.Errorf("/readyz answered %d after it had answered 503", a.status)
			}
		}
	}()
	return seen
}

// TestStopIdle: without load the program stops at once, and its data tells nothing but the truth.
func TestStopIdle(t *testing.T) {
	t.Parallel()
	p := start(t)
	if code, took := p.stop(); code != 0 || took > 5*time.Second {
		t.Errorf("ended with %d after %s", code, took)
	}
	p.mustHold()
}

// TestSecondProcess: a second process on the same data is refused with 2, names the setting, and does not hurt the first.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	p := start(t)
	cmd := command(t, "serve", "--listen", "127.0.0.1:0", "--data", p.dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !bytes.Contains(out, []byte("--data")) {
		t.Errorf("a second process on the data ended with %v: %s", err, out)
	}
	p.client(nil).get("/readyz").want(t, http.StatusOK)
}

// TestWrongSettings: every wrong setting is named at once, with exit code 2, before anything starts.
func TestWrongSettings(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs the built program")
	}
	cmd := command(t, "serve", "--listen", "nowhere", "--buyers", "everybody", "--secret", "short",
		"--admin-token", "short", "--trusted-proxies", "10.0.0.0/99", "--queue-limit=-1", "--data", t.TempDir())
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("ended with %v, want exit code 2", err)
	}
	for _, name := range []string{"listen", "buyers", "secret", "admin-token", "trusted-proxies", "queue-limit"} {
		if !strings.Contains(stderr.String(), "--"+name+": ") {
			t.Errorf("--%s is wrong and not named in:\n%s", name, &stderr)
		}
	}
	if stdout.Len() > 0 {
		t.Errorf("it said %q", &stdout)
	}
}

// TestSlowClients: headers or a body that do not come end within about 10 s, while an open socket lives on.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	p := start(t)
	it := p.admin().publish(nil)
	socket := p.dial(it.ID, "patient")
	if _, _, err := socket.ReadMessage(); err != nil {
		t.Fatal(err)
	}

	var slow sync.WaitGroup
	for name, sent := range map[string]string{
		"nothing": "",
		"headers": "POST /api/v1/items/" + it.ID + "/buy HTTP/1.1\r\nHost: x\r\nX-Buyer-ID: slow\r\n",
		"body": "POST /api/v1/items/" + it.ID + "/buy HTTP/1.1\r\nHost: x\r\nX-Buyer-ID: slow\r\n" +
			"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"quantity\":",
		"form": "POST /login HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
			"Content-Length: 100\r\n\r\nname=",
	} {
		slow.Go(func() {
			if took := p.hang(sent); took > 13*time.Second {
				t.Errorf("slow %s: still open after %s", name, took)
			}
		})
	}
	slow.Wait()

	p.admin().act(it.ID, "pause")
	if err := socket.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for {
		_, frame, err := socket.ReadMessage()
		if err != nil {
			t.Fatalf("the socket died with the slow clients: %v", err)
		}
		if bytes.Contains(frame, []byte(`"paused"`)) {
			break
		}
	}
	if n := count(t, p.database(), "SELECT count(*) FROM orders"); n != 0 {
		t.Errorf("half a body made %d orders", n)
	}
}

// hang sends the beginning of a request, nothing more, and tells how long the program puts up with it.
func (p *program) hang(sent string) time.Duration {
	began := time.Now()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Errorf("dial: %v", err)
		return 0
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, sent); err != nil {
		p.t.Errorf("write: %v", err)
	}
	_ = conn.SetReadDeadline(began.Add(20 * time.Second))
	_, _ = io.Copy(io.Discard, conn) // to the end of whatever it answers
	return time.Since(began)
}

// TestBodyLimit: 64 KiB are read, one byte more is refused, whether the length is told or not.
func TestBodyLimit(t *testing.T) {
	t.Parallel()
	p := start(t)
	it := p.admin().publish(nil)
	path := "/api/v1/items/" + it.ID + "/buy"
	body := func(size int) string {
		frame := `{"quantity":1,"note":"%s"}`
		return fmt.Sprintf(frame, strings.Repeat("x", size-len(frame)+2))
	}
	buyer := p.buyer(nil, "wordy")
	buyer.json("POST", path, body(64<<10+1)).wantCode(t, http.StatusRequestEntityTooLarge, "too_large")

	req, err := http.NewRequestWithContext(t.Context(), "POST", p.url+path, io.MultiReader(strings.NewReader(body(64<<10+1))))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Buyer-ID", "wordy")
	a, err := buyer.send(req)
	if err != nil {
		t.Fatal(err)
	}
	a.wantCode(t, http.StatusRequestEntityTooLarge, "too_large")

	buyer.json("POST", path, body(64<<10)).want(t, http.StatusAccepted)
}
