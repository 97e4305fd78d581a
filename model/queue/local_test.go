package queue_test

import (
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/queuetest"
)

func TestMain(m *testing.M) {
	queue.QuietRedis()
	goleak.VerifyTestMain(m)
}

func TestLocalInMemory(t *testing.T) {
	t.Parallel()
	queuetest.Run(t, func(t *testing.T, opt queuetest.Options) *queuetest.Backend {
		memory := queuetest.NewMemory()
		return backend(memory, memory, opt)
	})
}

// backend is a Local on a journal.
func backend(journal queue.Journal, judge queuetest.Judge, opt queuetest.Options) *queuetest.Backend {
	var now atomic.Int64
	clock := model.NewClock(func() time.Time { return time.UnixMilli(now.Load()) })
	faults := &queuetest.Faults{Journal: journal}
	open := func() queue.Queue { return queue.NewLocal(faults, clock, queue.LocalOptions{Limit: opt.Limit}) }
	return &queuetest.Backend{
		Queue:  open(),
		Judge:  judge,
		SetNow: func(i model.Instant) { now.Store(int64(i)) },
		Plant: func(t *testing.T, item model.ID, from int64, lines ...[]byte) {
			if err := journal.AppendJournal(t.Context(), item, from, lines); err != nil {
				t.Fatal(err)
			}
		},
		Restart: func(*testing.T) queue.Queue { return open() },
		Faults:  faults,
	}
}
