package model

import (
	"sync/atomic"
	"time"
)

// Instant is a moment as Unix milliseconds. Zero means "none": an item without an end, an order not paid.
type Instant int64

// instantLayout is the one form in which instants leave the program: RFC 3339, UTC, three digits.
const instantLayout = "2006-01-02T15:04:05.000Z"

// InstantOf cuts t to the millisecond; the zero time is no instant.
func InstantOf(t time.Time) Instant {
	if t.IsZero() {
		return 0
	}
	return Instant(t.UnixMilli())
}

// Time is the instant in UTC; no instant is the zero time.
func (i Instant) Time() time.Time {
	if i == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(i)).UTC()
}

// Add is the instant d later, cut to the millisecond.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// Sub is the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration {
	return time.Duration(i-earlier) * time.Millisecond
}

// String is the JSON form without quotes; empty for no instant.
func (i Instant) String() string {
	if i == 0 {
		return ""
	}
	return i.Time().Format(instantLayout)
}

// AppendJSON appends the JSON form to b.
func (i Instant) AppendJSON(b []byte) []byte {
	if i == 0 {
		return append(b, "null"...)
	}
	b = append(b, '"')
	b = i.Time().AppendFormat(b, instantLayout)
	return append(b, '"')
}

// MarshalJSON writes "2026-01-02T03:04:05.678Z", or null for no instant.
func (i Instant) MarshalJSON() ([]byte, error) { return i.AppendJSON(nil), nil }

// Clock is a wall clock that never goes back within the process: the gate's clock of the local queue. Safe for
// concurrent use.
type Clock struct {
	now  func() time.Time
	last atomic.Int64
}

// NewClock wraps now, usually [time.Now].
func NewClock(now func() time.Time) *Clock { return &Clock{now: now} }

// Now is the present, or the latest instant ever returned if the wall clock has gone back.
func (c *Clock) Now() Instant {
	now := c.now().UnixMilli()
	for {
		last := c.last.Load()
		if now <= last {
			return Instant(last)
		}
		if c.last.CompareAndSwap(last, now) {
			return Instant(now)
		}
	}
}
