package model

import (
	"strconv"
	"sync"
	"time"
)

// ID names an item, an order or a user: a positive 63-bit number. Outside the program it is a decimal string, because
// JavaScript and Lua lose digits above 2^53.
type ID int64

// ParseID reads the decimal form. Anything but the canonical decimal text of a positive number is [ErrNotFound]: an id
// that can not exist names nothing.
func ParseID(s string) (ID, error) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, ErrNotFound
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, ErrNotFound
	}
	return ID(n), nil
}

// String is the decimal form.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// MarshalJSON writes the decimal form as a JSON string.
func (id ID) MarshalJSON() ([]byte, error) {
	return append(strconv.AppendInt([]byte{'"'}, int64(id), 10), '"'), nil
}

const (
	idNodeBits = 10
	idSeqBits  = 12
	// MaxNode is the highest node number that [NewIDs] takes.
	MaxNode = 1<<idNodeBits - 1
)

// idEpoch is 2024-01-01T00:00:00Z; 41 bits of milliseconds reach to 2093.
const idEpoch = 1_704_067_200_000

// IDs hands out unique, rising ids: 41 bits of milliseconds, 10 of the node, 12 of a counter (the layout of Twitter's
// Snowflake). When the clock goes back or a millisecond's counter is used up, it goes on from the last id, ahead of
// the clock. Safe for concurrent use.
type IDs struct {
	now  func() time.Time
	node int64

	mu   sync.Mutex
	last int64 // milliseconds and counter, without the node
}

// NewIDs makes a source for one process. No two running processes on one database may have the same node, 0 to
// [MaxNode]; higher bits are cut.
func NewIDs(node int, now func() time.Time) *IDs {
	return &IDs{now: now, node: int64(node & MaxNode)}
}

// Skip has every further id be above id: one that an earlier process has handed out, perhaps by a clock that has been set
// back since.
func (g *IDs) Skip(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	tick := int64(id)>>(idNodeBits+idSeqBits)<<idSeqBits | int64(id)&(1<<idSeqBits-1)
	g.last = max(g.last, tick)
}

// Next returns an id that this source has not returned before.
func (g *IDs) Next() ID {
	g.mu.Lock()
	defer g.mu.Unlock()
	tick := (g.now().UnixMilli() - idEpoch) << idSeqBits
	g.last = max(g.last+1, tick)
	ms, seq := g.last>>idSeqBits, g.last&(1<<idSeqBits-1)
	return ID(ms<<(idNodeBits+idSeqBits) | g.node<<idSeqBits | seq)
}
