package queue

import (
	"context"
	"strings"
	"time"

	"seckill/model"
)

// FakeClock has the scripts and Now read the time from the hash "clock" of the database, set by SetClock.
func (r *Redis) FakeClock() {
	r.nowAge = 0 // it stands still
	r.scripts = newScripts(func(text string) string {
		return strings.ReplaceAll(text, "redis.call('TIME')", "redis.call('HMGET', 'clock', 'sec', 'usec')")
	})
	r.readClock = func(ctx context.Context) (time.Time, error) {
		var t struct {
			Sec  int64 `redis:"sec"`
			Usec int64 `redis:"usec"`
		}
		err := r.commands.HMGet(ctx, "clock", "sec", "usec").Scan(&t)
		return time.Unix(t.Sec, t.Usec*1000), err
	}
}

// SetClock sets the faked clock, and has this process forget what it knows by the old one.
func (r *Redis) SetClock(ctx context.Context, now model.Instant) error {
	err := r.commands.HSet(ctx, "clock", "sec", int64(now)/1000, "usec", int64(now)%1000*1000).Err()
	r.clock.set(0)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range r.items {
		i.clear()
	}
	return err
}

// SendInstall tells Redis of an epoch that was allocated before.
func (r *Redis) SendInstall(ctx context.Context, row model.Item) error {
	_, err := r.sendInstall(ctx, row)
	return err
}
