package queue

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"seckill/model"
)

const (
	// callTime is how long a call to Redis may take, all in all. Whoever waits for it is answered an outage then.
	callTime = 1500 * time.Millisecond
	// soldOutTime is how long "sold out" is remembered, from the start of the call that said so.
	soldOutTime = 200 * time.Millisecond
)

// RedisOptions of OpenRedis. The zero value of each field but URL is a sensible default.
type RedisOptions struct {
	URL   string // redis://[:pass@]host:port/db
	Limit int    // undecided tickets an item; 2,000,000
	Log   *slog.Logger
}

// Redis is the queue of any number of processes: a list and three hashes for each item on a Redis server, changed by
// scripts only, and removed together. The gate's clock is the server's.
//
// Redis may come back empty, older or as another server: each script knows the life of the server that its item was
// installed in, and does nothing in another. Such an item answers ErrStale, and Install puts it under its next
// epoch. One value has its own connections; those who answer people and those who decide should have one each, so that
// neither waits for the other's.
type Redis struct {
	commands  *redis.Client
	listener  *listener
	epochs    Epochs
	limit     int
	log       *slog.Logger
	channel   string
	scripts   *scripts
	readClock func(context.Context) (time.Time, error)
	clock     gateClock
	nowAge    time.Duration

	mu     sync.Mutex
	items  map[model.ID]*redisItem
	closed bool
}

var _ Queue = (*Redis)(nil)

// Epochs is where Redis gets the epochs of its queues. Package store implements it: only what SQL has committed is sure
// not to come back.
type Epochs interface {
	// Item is an item's row, read from the primary. None: model.ErrNotFound.
	Item(ctx context.Context, item model.ID) (model.Item, error)
	// NextEpoch puts the item under epoch from+1, if it is in epoch from, and returns its row then; false if it is in
	// another one. After an error it may or may not have happened: read the row, and ask for the one after that.
	NextEpoch(ctx context.Context, item model.ID, from int64) (model.Item, bool, error)
}

// OpenRedis makes a queue on the server of opt.URL. It connects only when it is first used, and starts no goroutine
// before Subscribe; ask Check whether the server will do.
func OpenRedis(epochs Epochs, opt RedisOptions) (*Redis, error) {
	o, err := redis.ParseURL(opt.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	if opt.Limit <= 0 {
		opt.Limit = DefaultLimit
	}
	r := &Redis{epochs: epochs, limit: opt.Limit, log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler)),
		channel: channelName(o.DB), scripts: newScripts(func(text string) string { return text }),
		nowAge: nowAge, items: map[model.ID]*redisItem{}}
	r.commands = redis.NewClient(commandOptions(*o))
	r.readClock = func(ctx context.Context) (time.Time, error) { return r.commands.Time(ctx).Result() }
	r.listener = newListener(redis.NewClient(subscriptionOptions(*o)), r.channel, r.hear)
	return r, nil
}

// QuietRedis silences the client library, which would write a line of its own to standard error for every connection
// that fails; callers have the same as an error. It sets the library's one logger: call it before anything else.
func QuietRedis() { logging.Disable() }

// commandOptions bound what a caller waits for, and never send a command again: one without a reply may have run.
func commandOptions(o redis.Options) *redis.Options {
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1
	o.DialTimeout, o.DialerRetries = time.Second, 1
	o.ReadTimeout, o.WriteTimeout = callTime, time.Second
	o.PoolSize, o.MaxActiveConns, o.PoolTimeout = 64, 128, 500*time.Millisecond
	o.PipelinePoolSize = -1 // pipelines are as bounded as everything else
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &o
}

func subscriptionOptions(o redis.Options) *redis.Options {
	p := commandOptions(o)
	p.PoolSize, p.MaxActiveConns = 4, 8
	return p
}

// idleTime is how long what a process knows of an item is kept that nobody clicks on.
const idleTime = time.Hour

// redisItem is what one process knows of an item.
type redisItem struct {
	clicks *gather
	used   time.Time // when it was last asked for
	soldOut
}

// item is the process's side of an item, made when it is first asked for; model.ErrUnavailable after Close. Those that have
// long been idle make room for a new one: there is no end to the items of a process that runs for long.
func (r *Redis) item(id model.ID) (*redisItem, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, model.ErrUnavailable
	}
	now := time.Now()
	i, ok := r.items[id]
	if !ok {
		maps.DeleteFunc(r.items, func(_ model.ID, old *redisItem) bool { return now.Sub(old.used) > idleTime })
		i = &redisItem{}
		i.clicks = newGather(func(group []*waiter) { r.fly(id, i, group) })
		r.items[id] = i
	}
	i.used = now
	return i, nil
}

// known is the process's side of an item if there is one.
func (r *Redis) known(id model.ID) (*redisItem, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i, ok := r.items[id]
	return i, ok
}

func (r *Redis) forget(id model.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.items, id)
}

// call runs a script of an item. An error is ErrMissing, ErrStale or model.ErrUnavailable; what names the script.
func (r *Redis) call(ctx context.Context, item model.ID, what string, script *redis.Script, args ...any) (reply, error) {
	if r.over() {
		return nil, model.ErrUnavailable
	}
	got, err := r.run(ctx, call{script, itemKeys(item), args})
	if err != nil {
		return nil, unavailable(item, what, err)
	}
	if err := got.standing(); err != nil {
		return nil, fmt.Errorf("%s item %s: %w", what, item, err)
	}
	return got, nil
}

func (r *Redis) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// Now implements Queue: the server's time, which is asked for at most twice a second and never ahead of it.
func (r *Redis) Now(ctx context.Context) (model.Instant, error) {
	if r.over() {
		return 0, model.ErrUnavailable
	}
	if now, ok := r.clock.reached(time.Now(), r.nowAge); ok {
		return now, nil
	}
	return r.askNow(ctx)
}

// askNow asks the server.
func (r *Redis) askNow(ctx context.Context) (model.Instant, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	t, err := r.readClock(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w: read the server's clock: %w", model.ErrUnavailable, err)
	}
	now := model.InstantOf(t)
	r.clock.set(now)
	return now, nil
}

// Remove implements Queue.
func (r *Redis) Remove(ctx context.Context, item model.ID) error {
	if r.over() {
		return model.ErrUnavailable
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := r.commands.Unlink(ctx, itemKeys(item)...).Err(); err != nil {
		return unavailable(item, "remove", err)
	}
	r.forget(item)
	return nil
}

// liveTime is how long a worker is taken to live after a beat, by the server's clock. With a beat a second, the items of
// one that dies or freezes have another owner within six: at worst three, a beat of the others, and a sweep.
const liveTime = 3 * time.Second

// Beat implements Queue.
func (r *Redis) Beat(ctx context.Context, worker string) ([]string, error) {
	got, err := r.run(ctx, call{r.scripts.beat, []string{beatKey}, []any{worker, liveTime.Milliseconds()}})
	if err != nil {
		return nil, fmt.Errorf("%w: beat: %w", model.ErrUnavailable, err)
	}
	live := reply{nil, []any(got)}.list(1)
	slices.Sort(live)
	return live, nil
}

// Leave implements Queue.
func (r *Redis) Leave(ctx context.Context, worker string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := r.commands.ZRem(ctx, beatKey, worker).Err(); err != nil {
		return fmt.Errorf("%w: leave: %w", model.ErrUnavailable, err)
	}
	return nil
}

// Subscribe implements Queue. It waits for the server to confirm the subscription, for a second and a half at most; when
// that comes later, or again after a lost connection, the reader gets Missed.
func (r *Redis) Subscribe(ctx context.Context) <-chan Message { return r.listener.subscribe(ctx) }

// Close implements Queue. Subscriptions end with their contexts.
func (r *Redis) Close() error {
	r.mu.Lock()
	again := r.closed
	r.closed = true
	var clicks []*gather
	for _, i := range r.items {
		clicks = append(clicks, i.clicks)
	}
	r.mu.Unlock()
	if again {
		return nil
	}
	for _, c := range clicks {
		c.close(model.ErrUnavailable)
	}
	err := r.listener.close()
	return cmp.Or(r.commands.Close(), err)
}

// gateClock is the latest time of the server that this process has seen, and when it did.
type gateClock struct {
	mu   sync.Mutex
	gate model.Instant
	at   time.Time
}

func (c *gateClock) set(now model.Instant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gate, c.at = now, time.Now()
}

const (
	// nowAge is how old a seen time may be for Now.
	nowAge = 500 * time.Millisecond
	// clockAge is how old it may be for the end of a call: clocks drift apart.
	clockAge = 10 * time.Second
)

// reached is a time that the server's clock has reached when this process's has reached t; false when none was seen
// within age before t.
func (c *gateClock) reached(t time.Time, age time.Duration) (model.Instant, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gate == 0 || t.Sub(c.at) >= age {
		return 0, false
	}
	return c.gate.Add(t.Sub(c.at)), true
}
