package queue_test

import (
	"context"
	"sync"
	"testing"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/queuetest"
	"seckill/model/queue/redistest"
)

func TestRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	queuetest.Run(t, func(t *testing.T, opt queuetest.Options) *queuetest.Backend {
		return redisBackend(t, server, opt)
	})
}

// fromEpochOne has items that were never installed, so that their first epoch is 1.
type fromEpochOne struct{ *queuetest.Memory }

func (f fromEpochOne) Create(ctx context.Context, item model.Item) (model.Item, error) {
	item.Epoch = 0
	item, err := f.Memory.Create(ctx, item)
	item.Epoch = 1
	return item, err
}

// redisBackend is a Redis with a clock that can be set, on a database of its own.
func redisBackend(t *testing.T, server *redistest.Server, opt queuetest.Options) *queuetest.Backend {
	db := server.Database()
	client := server.Client(db)
	memory := queuetest.NewMemory()
	var mu sync.Mutex
	var opened []*queue.Redis
	open := func(t *testing.T) queue.Queue {
		r, err := queue.OpenRedis(memory, queue.RedisOptions{URL: server.URL(db), Limit: opt.Limit})
		must(t, err)
		r.FakeClock()
		t.Cleanup(func() { must(t, r.Close()) })
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, r)
		return r
	}
	return &queuetest.Backend{
		Queue:   open(t),
		Judge:   fromEpochOne{memory},
		Durable: true,
		SetNow: func(now model.Instant) {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range opened {
				must(t, r.SetClock(context.Background(), now))
			}
		},
		Plant: func(t *testing.T, item model.ID, from int64, lines ...[]byte) {
			tag := "{" + item.String() + "}:"
			for _, line := range lines {
				must(t, client.RPush(t.Context(), tag+"queue", line).Err())
			}
			must(t, client.HSet(t.Context(), tag+"meta", "seq", from+int64(len(lines))-1).Err())
		},
		NextEpoch: func(t *testing.T, q queue.Queue, row model.Item) model.Item {
			must(t, client.HSet(t.Context(), "{"+row.ID.String()+"}:meta", "life", "another").Err())
			must(t, q.Install(t.Context(), row))
			row.Epoch++
			return row
		},
		Restart: open,
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
