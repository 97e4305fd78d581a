package queue

import (
	"context"
	"sync"
)

// subscriberRoom is how many messages a subscriber may be behind before it misses some.
const subscriberRoom = 256

// fanout hands messages to its subscribers and never waits for one. A subscriber that has no room for a message gets
// Missed in its place: the last slot of its channel is kept for that, and only for that. So whatever is dropped while
// the channel is full is dropped before Missed is read.
type fanout struct {
	mu          sync.Mutex
	subscribers map[chan Message]struct{}
}

func (f *fanout) subscribe(ctx context.Context) <-chan Message {
	c := make(chan Message, subscriberRoom+1)
	f.mu.Lock()
	if f.subscribers == nil {
		f.subscribers = map[chan Message]struct{}{}
	}
	f.subscribers[c] = struct{}{}
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, c)
		close(c)
	})
	return c
}

func (f *fanout) publish(m Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.subscribers {
		// Only publish sends, under the lock: there is at least as much room as was seen.
		switch len(c) {
		case subscriberRoom + 1:
		case subscriberRoom:
			c <- Message{Kind: Missed}
		default:
			c <- m
		}
	}
}
