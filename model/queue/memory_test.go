package queue

import (
	"encoding/binary"
	"testing"

	"seckill/model"
)

func TestDequeKeepsItsOrder(t *testing.T) {
	t.Parallel()
	var d deque[int]
	next, head := 0, 0
	for round := range 50 {
		for range 700 {
			d.push(next)
			next++
		}
		drop := min(d.len(), 300+round*37)
		d.trim(drop)
		head += drop
		if d.len() != next-head {
			t.Fatalf("length %d, want %d", d.len(), next-head)
		}
		for n := range d.len() {
			if *d.at(n) != head+n {
				t.Fatalf("element %d is %d, want %d", n, *d.at(n), head+n)
			}
		}
		if most := d.len()/chunk + 2; len(d.chunks) > most {
			t.Fatalf("%d chunks for %d elements", len(d.chunks), d.len())
		}
	}
}

func TestOnlyTheLatestVerdictsAreRemembered(t *testing.T) {
	t.Parallel()
	const most = 100
	v := verdicts{most: most, base: 10}
	v.set(10, model.Won)
	v.set(13, model.Ended)
	for seq, want := range map[int64]model.Verdict{9: 0, 10: model.Won, 11: 0, 12: 0, 13: model.Ended, 14: 0} {
		if got := v.get(seq); got != want {
			t.Errorf("%d: %v, want %v", seq, got, want)
		}
	}
	for seq := int64(14); seq < 20+most; seq++ {
		v.set(seq, model.SoldOut)
	}
	if v.list.len() != most || v.get(13) != 0 || v.get(19) != 0 || v.get(20) != model.SoldOut ||
		v.get(19+most) != model.SoldOut {
		t.Errorf("%d verdicts from %d", v.list.len(), v.base)
	}
	v.set(1<<50, model.Won)
	if v.list.len() != 1 || v.get(1<<50) != model.Won || v.get(19+most) != 0 {
		t.Errorf("after a gap: %d verdicts from %d", v.list.len(), v.base)
	}
}

func TestTheNewestTicketsAreForgottenOldestFirst(t *testing.T) {
	t.Parallel()
	const most = 100
	n := newest{most: most}
	hash := func(k int) (h model.BuyerHash) {
		binary.BigEndian.PutUint64(h[:], uint64(k))
		return h
	}
	for k := range 2*most + 1 {
		n.set(hash(k), mark{epoch: 1, seq: int64(k)})
	}
	n.set(hash(most), mark{epoch: 1, seq: 9})
	for k, want := range map[int]bool{0: false, most - 1: false, most: true, 2 * most: true} {
		if _, ok := n.get(hash(k)); ok != want {
			t.Errorf("buyer %d known: %v, want %v", k, ok, want)
		}
	}
	if m, _ := n.get(hash(most)); m.seq != 9 {
		t.Errorf("newest is %d", m.seq)
	}
}
