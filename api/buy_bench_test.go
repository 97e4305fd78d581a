//go:build unix

package api_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store"
)

const (
	driveConns = 128
	driveEach  = 250
)

// BenchmarkBuy compares accepted clicks with a bare Gin handler that writes the same bytes, in the same run, in turns:
// both through net/http on loopback, 128 keep-alive connections of another process that click without a pause, each click
// a new buyer. The click's side has the whole route and the queue: the local one with its journal on real SQLite, or one
// on a private Redis with an append-only file; no seller runs. Reported: accepted clicks a second, that as a share of the
// bare handler's, and the server's CPU (user and system, Redis's apart) per answer as a multiple of the bare handler's;
// on Redis also how many times as many clicks pass as with one script call for each. The clients' process is this test
// binary, started again for [TestDrive], so that the benchmark's own CPU is the server's.
func BenchmarkBuy(b *testing.B) {
	b.Run("local", func(b *testing.B) { compare(b, newBenchShop(b, nil), nil) })
	b.Run("redis", func(b *testing.B) {
		server := redistest.Start(b, "--appendonly", "yes")
		compare(b, newBenchShop(b, []string{server.URL(0)}),
			newBenchShop(b, slices.Repeat([]string{server.URL(1)}, driveConns)))
	})
}

// newBenchShop is a shop with a queue on each of the Redis servers, used by one click at a time where they are many; with
// none it has the local queue.
func newBenchShop(b *testing.B, servers []string) *shop {
	buyers := api.IdentityOptions{Mode: api.ModeHeader, Trusted: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}}
	if servers == nil {
		return newShopOf(b, buyers)
	}
	return newShopOn(b, buyers, func(db *store.Store, _ *model.Clock) queue.Queue {
		free := make(chan *queue.Redis, len(servers))
		for _, url := range servers {
			r, err := queue.OpenRedis(db, queue.RedisOptions{URL: url})
			must(b, err)
			free <- r
		}
		one := <-free
		free <- one
		if len(servers) == 1 {
			return one
		}
		return oneByOne{one, free}
	})
}

// oneByOne is a queue that never gathers: each click under way has a client of its own, and so a script call.
type oneByOne struct {
	*queue.Redis
	free chan *queue.Redis
}

// Join implements queue.Queue.
func (o oneByOne) Join(ctx context.Context, item model.ID, click queue.Click) (queue.Answer, error) {
	r := <-o.free
	defer func() { o.free <- r }()
	return r.Join(ctx, item, click)
}

// Close implements queue.Queue.
func (o oneByOne) Close() error {
	var errs []error
	for range cap(o.free) {
		errs = append(errs, (<-o.free).Close())
	}
	return errors.Join(errs...)
}

// compare reports what clicks at s cost beside bare answers, and beside the same clicks at single if there is one.
func compare(b *testing.B, s, single *shop) {
	const item = `{"title":"Lamp","price":{"amount":1990,"currency":"CNY"},"stock":10000000}`
	path := "/api/v1/items/" + s.publish(b, item) + "/buy"
	click := s.call(b, "first", "POST", path, "")
	click.want(b, http.StatusAccepted, "")
	bare := gin.New()
	bare.POST("/api/v1/items/:id/buy", func(c *gin.Context) {
		c.Data(http.StatusAccepted, click.Header().Get("Content-Type"), click.Body.Bytes())
	})
	ours, theirs := httptest.NewServer(s), httptest.NewServer(bare)
	defer ours.Close()
	defer theirs.Close()
	drives := map[string]func(round int) spent{
		"ours": func(round int) spent { return drive(b, ours, path, round) },
		"bare": func(round int) spent { return drive(b, theirs, path, round) },
	}
	if single != nil {
		singly := httptest.NewServer(single)
		defer singly.Close()
		path := "/api/v1/items/" + single.publish(b, item) + "/buy"
		drives["single"] = func(round int) spent { return drive(b, singly, path, round) }
	}
	cost, round := map[string]spent{}, 0
	for b.Loop() {
		for name, drive := range drives {
			cost[name] = cost[name].plus(drive(round))
		}
		round++
	}
	answers := float64(round * driveConns * driveEach)
	we, they := cost["ours"], cost["bare"]
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(answers/we.wall.Seconds(), "clicks/s")
	b.ReportMetric(answers/they.wall.Seconds(), "bare/s")
	b.ReportMetric(they.wall.Seconds()/we.wall.Seconds(), "of-bare")
	b.ReportMetric(float64(we.cpu.Microseconds())/answers, "cpu-µs/click")
	b.ReportMetric(float64(we.cpu)/float64(they.cpu), "cpu-ratio")
	if single != nil {
		b.ReportMetric(cost["single"].wall.Seconds()/we.wall.Seconds(), "of-single")
	}
}

// spent is time and this process's CPU.
type spent struct{ wall, cpu time.Duration }

func (s spent) plus(more spent) spent { return spent{s.wall + more.wall, s.cpu + more.cpu} }

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
