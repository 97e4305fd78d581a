package queue

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// quietTime is how long a subscription may be silent before it is asked whether it still stands; twice that, and it
	// does not.
	quietTime = 3 * time.Second
	// relistenTime is the time between tries to subscribe.
	relistenTime = 250 * time.Millisecond
)

// listener is one process's subscription, for all its subscribers. One goroutine runs from the first subscriber on
// until close.
type listener struct {
	client  *redis.Client
	channel string
	hear    func(Message)
	fanout  fanout

	mu      sync.Mutex
	started bool
	closed  bool
	stop    context.CancelFunc
	done    chan struct{}
	up      chan struct{} // closed while the subscription stands
}

func newListener(client *redis.Client, channel string, hear func(Message)) *listener {
	return &listener{client: client, channel: channel, hear: hear, done: make(chan struct{}), up: make(chan struct{})}
}

// subscribe adds a subscriber, and waits for a while until the subscription stands.
func (l *listener) subscribe(ctx context.Context) <-chan Message {
	messages := l.fanout.subscribe(ctx)
	up := l.start()
	t := time.NewTimer(callTime)
	defer t.Stop()
	select {
	case <-up:
	case <-t.C:
	case <-l.done:
	case <-ctx.Done():
	}
	return messages
}

// start has the goroutine run, and returns what is closed when the subscription stands.
func (l *listener) start() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.started && !l.closed {
		l.started = true
		ctx, stop := context.WithCancel(context.Background())
		l.stop = stop
		go l.run(ctx)
	}
	return l.up
}

// close ends the goroutine and waits for it.
func (l *listener) close() error {
	l.mu.Lock()
	started, again := l.started, l.closed
	l.closed = true
	if l.stop != nil {
		l.stop()
	}
	l.mu.Unlock()
	if again {
		return nil
	}
	err := l.client.Close()
	if started {
		<-l.done
	} else {
		close(l.done)
	}
	return err
}

// run keeps a subscription standing until ctx ends.
func (l *listener) run(ctx context.Context) {
	defer close(l.done)
	begun := time.Now()
	for first := true; ctx.Err() == nil; first = false {
		l.listen(ctx, begun, first)
		if pause(ctx, relistenTime) != nil {
			return
		}
	}
}

// listen subscribes, and hears until the subscription breaks. Between one subscription and the next messages are lost;
// before the first subscribers wait, but not for longer than callTime from begun on.
func (l *listener) listen(ctx context.Context, begun time.Time, first bool) {
	sub := l.client.Subscribe(ctx)
	unwatch := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		unwatch()
		_ = sub.Close()
		l.setUp(false)
	}()
	if err := sub.Subscribe(ctx, l.channel); err != nil {
		return
	}
	asked, missed := false, !first
	for ctx.Err() == nil {
		got, err := sub.ReceiveTimeout(ctx, quietTime)
		var slow net.Error
		switch {
		case err == nil:
			asked = false
			l.take(got, missed || time.Since(begun) > callTime)
			missed = true
		case errors.As(err, &slow) && slow.Timeout() && !asked && sub.Ping(ctx) == nil:
			asked = true
		default:
			return
		}
	}
}

// take hands on what the subscription has received. Missed: messages may have been lost before it stood.
func (l *listener) take(got any, missed bool) {
	switch got := got.(type) {
	case *redis.Subscription:
		if missed {
			l.fanout.publish(Message{Kind: Missed})
		}
		l.setUp(true)
	case *redis.Message:
		m, err := decodeMessage(got.Payload)
		if err != nil {
			m = Message{Kind: Missed}
		}
		l.hear(m)
		l.fanout.publish(m)
	}
}

// setUp notes whether the subscription stands.
func (l *listener) setUp(up bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.up:
		if !up {
			l.up = make(chan struct{})
		}
	default:
		if up {
			close(l.up)
		}
	}
}
