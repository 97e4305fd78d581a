package queue_test

import (
	"slices"
	"testing"
	"time"
)

// When the server's clock has been set back, a worker that died before has its beat at a time still to come: it must not
// own its items until then.
func TestABeatFromTheFutureIsOfNobody(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	now, err := s.queue.Now(t.Context())
	must(t, err)
	s.server.Do("ZADD", "seckill:workers", int64(now.Add(time.Hour)), "dead")
	if live, err := s.queue.Beat(t.Context(), "one"); err != nil || !slices.Equal(live, []string{"one"}) {
		t.Errorf("%v live, %v", live, err)
	}
}
