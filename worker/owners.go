package worker

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"

	"seckill/model"
)

// owners knows which workers live, and so which items are this one's: each item belongs to the worker whose name and the
// item's id have the highest hash together (rendezvous hashing; Thaler and Ravishankar, "Using name-based mappings to
// increase hit rates", 1998). Everybody who sees the same names agrees without asking, and a worker that comes or
// goes moves only its own items. Who sees other names for a moment shares an item with another: that repeats work, and
// breaks nothing. Safe for concurrent use.
type owners struct {
	self string

	mu   sync.Mutex
	live []string // nil until it is known
}

// set takes the names of those who live, and reports whether they have changed.
func (o *owners) set(live []string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed := !slices.Equal(o.live, live)
	o.live = live
	return changed
}

// known reports whether it is known who lives.
func (o *owners) known() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.live) > 0
}

// owns reports whether the item is this worker's.
func (o *owners) owns(item model.ID) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return ownerOf(item, o.live) == o.self
}

// ownerOf is the name of the item's owner, empty where nobody lives.
func ownerOf(item model.ID, live []string) (owner string) {
	var highest uint64
	for _, name := range live {
		if w := weight(name, item); owner == "" || w > highest {
			owner, highest = name, w
		}
	}
	return owner
}

// weight is the first eight bytes of a hash: a worker has its share of any items.
func weight(name string, item model.ID) uint64 {
	h := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(name), uint64(item)))
	return binary.BigEndian.Uint64(h[:])
}
