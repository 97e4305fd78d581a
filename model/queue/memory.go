package queue

import (
	"encoding/binary"

	"seckill/model"
)

// Bounds of what Local remembers of each item, so that a sale without an end does not fill the memory. What is
// forgotten is Gone, and SQL has it.
const (
	maxVerdicts = 4 << 20 // one byte each
	maxNewest   = 2 << 20 // in each of two generations
)

// mark is a buyer's ticket.
type mark struct {
	epoch, seq int64
	quantity   int32
}

// verdicts are those of the latest numbers settled.
type verdicts struct {
	most int   // bound of the list
	base int64 // the number of the first
	list deque[model.Verdict]
}

// set notes the verdict of a number above all before; a number left out has none.
func (v *verdicts) set(seq int64, verdict model.Verdict) {
	if seq-v.base-int64(v.list.len()) > int64(v.most) { // a gap wider than the memory
		v.list = deque[model.Verdict]{}
		v.base = seq
	}
	for v.base+int64(v.list.len()) < seq {
		v.list.push(0)
	}
	v.list.push(verdict)
	if over := v.list.len() - v.most; over > 0 {
		v.list.trim(over)
		v.base += int64(over)
	}
}

// get is zero for a number without a verdict here.
func (v *verdicts) get(seq int64) model.Verdict {
	if n := seq - v.base; n >= 0 && n < int64(v.list.len()) {
		return *v.list.at(int(n))
	}
	return 0
}

// newest finds each buyer's newest decided ticket, by the hash that decisions keep. It forgets the older half at once:
// a generation that is full becomes the old one.
type newest struct {
	most       int // bound of each generation
	young, old map[uint64]mark
}

func (n *newest) set(buyer model.BuyerHash, m mark) {
	if len(n.young) >= n.most {
		n.young, n.old = nil, n.young
	}
	if n.young == nil {
		n.young = map[uint64]mark{}
	}
	n.young[binary.BigEndian.Uint64(buyer[:])] = m
}

func (n *newest) get(buyer model.BuyerHash) (mark, bool) {
	key := binary.BigEndian.Uint64(buyer[:])
	if m, ok := n.young[key]; ok {
		return m, true
	}
	m, ok := n.old[key]
	return m, ok
}
