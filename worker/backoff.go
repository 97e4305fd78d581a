package worker

import (
	"math/rand/v2"
	"time"
)

const (
	backoffLeast = 50 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// backoff counts failures in a row.
type backoff struct{ failures int }

func (b *backoff) fail() { b.failures++ }

// wait is the time to wait after the latest failure: doubling from backoffLeast to backoffMost, with up to half of it
// left out at random, so that the sellers of many items do not come back in step.
func (b *backoff) wait() time.Duration {
	most := backoffMost
	if b.failures <= 6 {
		most = min(most, backoffLeast<<(b.failures-1))
	}
	return max(backoffLeast, most/2+rand.N(most/2+1))
}

// loud reports whether the latest failure is to be logged: the first, and every tenth.
func (b *backoff) loud() bool { return b.failures%10 == 1 }
