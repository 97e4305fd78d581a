//go:build unix

package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
)

const (
	driveConns = 128
	driveEach  = 250
)

// BenchmarkBuy compares accepted clicks with a bare Gin handler that writes the same bytes, in the same run, in turns:
// both through net/http on loopback, 128 keep-alive connections of another process that click without a pause, each click
// a new buyer. The click's side has the whole route, the local queue and its journal on real SQLite; no seller runs.
// Reported: accepted clicks a second, that as a share of the bare handler's, and the server's CPU (user and system) per
// answer as a multiple of the bare handler's. The clients' process is this test binary, started again for [TestDrive], so
// that the benchmark's own CPU is the server's.
func BenchmarkBuy(b *testing.B) {
	s := newShopOf(b, api.IdentityOptions{Mode: api.ModeHeader, Trusted: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}})
	id := s.publish(b, strings.Replace(lamp, `"stock":2`, `"stock":10000000`, 1))
	path := "/api/v1/items/" + id + "/buy"
	click := s.call(b, "first", "POST", path, "")
	click.want(b, http.StatusAccepted, "")
	bare := gin.New()
	bare.POST("/api/v1/items/:id/buy", func(c *gin.Context) {
		c.Data(http.StatusAccepted, click.Header().Get("Content-Type"), click.Body.Bytes())
	})
	ours, theirs := httptest.NewServer(s), httptest.NewServer(bare)
	defer ours.Close()
	defer theirs.Close()
	var we, they spent
	round := 0
	for b.Loop() {
		they.add(drive(b, theirs, path, round))
		we.add(drive(b, ours, path, round))
		round++
	}
	answers := float64(round * driveConns * driveEach)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(answers/we.wall.Seconds(), "clicks/s")
	b.ReportMetric(answers/they.wall.Seconds(), "bare/s")
	b.ReportMetric(they.wall.Seconds()/we.wall.Seconds(), "of-bare")
	b.ReportMetric(float64(we.cpu.Microseconds())/answers, "cpu-µs/click")
	b.ReportMetric(float64(we.cpu)/float64(they.cpu), "cpu-ratio")
}

// spent is time and this process's CPU.
type spent struct{ wall, cpu time.Duration }

func (s *spent) add(more spent) { s.wall, s.cpu = s.wall+more.wall, s.cpu+more.cpu }

// drive lets another process click, and measures from its first click to its last.
func drive(b *testing.B, server *httptest.Server, path string, round int) spent {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestDrive$", "--", "drive", server.Listener.Addr().String(), path,
		strconv.Itoa(round*driveConns*driveEach))
	out, err := cmd.StdoutPipe()
	must(b, err)
	cmd.Stderr = os.Stderr
	must(b, cmd.Start())
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); line != "connected\n" {
		b.Fatalf("the clients said %q: %v", line, err)
	}
	start, before := time.Now(), cpu(b)
	rest, err := io.ReadAll(r)
	took := spent{time.Since(start), cpu(b) - before}
	must(b, err)
	if err := cmd.Wait(); err != nil {
		b.Fatalf("the clients failed: %v: %s", err, rest)
	}
	return took
}

func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestDrive is the clients' process of BenchmarkBuy.
func TestDrive(t *testing.T) {
	args := os.Args[max(0, len(os.Args)-4):]
	if len(args) < 4 || args[0] != "drive" {
		t.Skip("is for BenchmarkBuy")
	}
	addr, path := args[1], args[2]
	from, err := strconv.Atoi(args[3])
	must(t, err)
	conns := make([]net.Conn, driveConns)
	for n := range conns {
		var err error
		conns[n], err = net.Dial("tcp", addr)
		must(t, err)
	}
	if _, err := os.Stdout.WriteString("connected\n"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n, conn := range conns {
		all.Go(func() {
			if err := clicks(conn, path, from+n*driveEach); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// clicks clicks as one buyer after the other, each time waiting for the answer.
func clicks(conn net.Conn, path string, from int) error {
	r := bufio.NewReader(conn)
	for n := range driveEach {
		_, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nX-Buyer-ID: buyer-%d\r\nContent-Length: 0\r\n\r\n", path, from+n)
		if err != nil {
			return err
		}
		answer, err := http.ReadResponse(r, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusAccepted {
			return fmt.Errorf("answered %s: %s: %w", answer.Status, body, err)
		}
	}
	return nil
}
