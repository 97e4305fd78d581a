//go:build unix

package api_test

import (
	"context"
	"errors"
	"hash/maphash"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/redistest"
	"seckill/model/store"
	"seckill/model/store/mariadbtest"
)

// BenchmarkBuyOnRedis is BenchmarkBuy with the queue on a real Redis, which keeps an append-only file, and the data in
// MariaDB; in the same run, in turns, also with one script call for each click in place of one for all that wait. Redis
// and the clients share the machine's cores with the server.
func BenchmarkBuyOnRedis(b *testing.B) {
	cache, server := redistest.Start(b, "--appendonly", "yes"), mariadbtest.Start(b)
	dsn := server.DSN(server.Database(b))
	grouped := newRedisShop(b, dsn, cache, 1)
	alone := newRedisShop(b, dsn, cache, driveConns)
	id := grouped.publish(b, `{"title":"Lamp","price":{"amount":1999,"currency":"CNY"},"stock":10000000,"starts_at":"2026-05-01T12:00:00Z"}`)
	path := "/api/v1/items/" + id + "/buy"
	click := grouped.call(b, "first", "POST", path, "")
	click.want(b, http.StatusAccepted, "")
	bare := gin.New()
	bare.POST("/api/v1/items/:id/buy", func(c *gin.Context) {
		c.Data(http.StatusAccepted, click.Header().Get("Content-Type"), click.Body.Bytes())
	})
	var spents [3]spent
	var servers [3]*httptest.Server
	for n, handler := range []http.Handler{bare, grouped, alone} {
		servers[n] = httptest.NewServer(handler)
		defer servers[n].Close()
	}
	round := 0
	for b.Loop() {
		for n, s := range servers {
			spents[n].add(drive(b, s, path, round))
			round++
		}
	}
	answers := float64(round / len(servers) * driveConns * driveEach)
	they, we, each := spents[0].wall.Seconds(), spents[1].wall.Seconds(), spents[2].wall.Seconds()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(answers/we, "clicks/s")
	b.ReportMetric(answers/they, "bare/s")
	b.ReportMetric(answers/each, "clicks/s-alone")
	b.ReportMetric(they/we, "of-bare")
	b.ReportMetric(each/we, "of-alone")
}

// newRedisShop is a shop with so many queues on Redis, each with its own groups of clicks.
func newRedisShop(b *testing.B, dsn string, cache *redistest.Server, queues int) *shop {
	b.Helper()
	s := &shop{now: &atomic.Int64{}, ready: map[string]error{}}
	db, err := store.Open(context.Background(), dsn, store.Options{})
	must(b, err)
	_, err = db.Migrate(context.Background())
	must(b, err)
	spread := spread{seed: maphash.MakeSeed()}
	for range queues {
		q, err := queue.OpenRedis(db, queue.RedisOptions{URL: cache.URL(0)})
		must(b, err)
		spread.all = append(spread.all, q)
	}
	spread.Redis = spread.all[0]
	s.mount(b, api.IdentityOptions{Mode: api.ModeHeader, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("192.0.2.0/24")}}, db, spread)
	return s
}

// spread is a queue whose clicks are spread over several of one server: with as many as there are clients, hardly any
// two clicks go together.
type spread struct {
	*queue.Redis
	all  []*queue.Redis
	seed maphash.Seed
}

func (s spread) Join(ctx context.Context, item model.ID, click queue.Click) (queue.Answer, error) {
	n := maphash.String(s.seed, string(click.Buyer)) % uint64(len(s.all))
	return s.all[n].Join(ctx, item, click)
}

func (s spread) Close() error {
	var errs []error
	for _, q := range s.all {
		errs = append(errs, q.Close())
	}
	return errors.Join(errs...)
}
