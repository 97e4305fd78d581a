package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"seckill/model"
)

var kinds = map[string]Kind{"woken": Woken, "settled": Settled, "changed": Changed}

// decodeMessage reads what a script has published: kind|item|epoch|served|seq|queued|available|version|told
func decodeMessage(text string) (Message, error) {
	parts := strings.SplitN(text, "|", 9)
	kind := kinds[parts[0]]
	if len(parts) != 9 || kind == 0 {
		return Message{}, fmt.Errorf("message %.40q", text)
	}
	var n [7]int64
	for k := range n {
		v, err := strconv.ParseInt(parts[k+1], 10, 64)
		if err != nil {
			return Message{}, fmt.Errorf("message %.40q: %w", text, err)
		}
		n[k] = v
	}
	id := model.ID(n[0])
	m := Message{Kind: kind, Item: id, Progress: Progress{Item: id, Epoch: n[1], Served: n[2], Seq: n[3], Queued: n[4],
		Available: n[5], Version: n[6]}}
	var err error
	m.Told, err = decodeTold(id, []byte(parts[8]))
	return m, err
}

// encodeTold is the verdicts of the entries that could be read: for each its verdict, epoch, seq, quantity and the
// length of the buyer's id as varints, and the id.
func encodeTold(s Settlement) []byte {
	b := make([]byte, 0, 32*len(s.Verdicts))
	for n, e := range s.Batch.Entries {
		if e.Err != nil {
			continue
		}
		for _, v := range [...]uint64{uint64(s.Verdicts[n]), uint64(e.Epoch), uint64(e.Seq), uint64(e.Quantity), uint64(len(e.Buyer))} {
			b = binary.AppendUvarint(b, v)
		}
		b = append(b, e.Buyer...)
	}
	return b
}

func decodeTold(item model.ID, b []byte) ([]Told, error) {
	var told []Told
	for len(b) > 0 {
		var v [5]uint64
		for k := range v {
			n := 0
			if v[k], n = binary.Uvarint(b); n <= 0 {
				return nil, errors.New("verdicts that can not be read")
			}
			b = b[n:]
		}
		if v[4] > uint64(len(b)) {
			return nil, errors.New("verdicts that can not be read")
		}
		buyer := model.Buyer(b[:v[4]])
		b = b[v[4]:]
		t := model.Ticket{Item: item, Epoch: int64(v[1]), Seq: int64(v[2]), Quantity: int(v[3]), Buyer: buyer}
		told = append(told, Told{Ticket: t, Verdict: model.Verdict(v[0])})
	}
	return told, nil
}
