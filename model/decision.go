package model

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Verdict is the one final answer to a ticket. Its values are stored; never renumber them.
type Verdict uint8

// The verdicts. The zero value is no verdict.
const (
	Won       Verdict = 1
	SoldOut   Verdict = 2
	Duplicate Verdict = 3
	Ended     Verdict = 4
	Failed    Verdict = 5
)

var verdictNames = [...]string{"", "won", "sold_out", "duplicate", "ended", "failed"}

// String is the public name; empty for no verdict.
func (v Verdict) String() string {
	if int(v) >= len(verdictNames) {
		return ""
	}
	return verdictNames[v]
}

// Entry is a ticket's line in a queue. An entry that can not be read has Err set; then only Seq counts, and Seq is 0
// where not even the number is known.
type Entry struct {
	Epoch    int64
	Seq      int64
	At       Instant // when the gate ran the join
	Quantity int
	Buyer    Buyer
	Err      error
}

// EntryGroup is a group of entries as the local queue's journal keeps it: lines with the numbers From, From+1, …
// A line that could not even be cut out of its row is nil.
type EntryGroup struct {
	From  int64
	Lines [][]byte
}

// Decision is one batch of verdicts of one item, in the order of their numbers.
type Decision struct {
	Item  ID
	Epoch int64
	// Tickets has one element for each decided number, rising.
	Tickets []Decided
	At      Instant
}

// Decided is one number's verdict. A number lost with a queue's data has none and is left out.
type Decided struct {
	Seq      int64
	Verdict  Verdict
	Quantity int
	Buyer    BuyerHash // zero for an entry that could not be read
}

// decidedSize is the bytes of one number in a decision row: verdict, quantity (2), buyer's hash (8).
const decidedSize = 11

// EncodeTickets is the decision row's form of the tickets, for the numbers from the first to the last: 11 bytes each,
// all zero for a number that is left out. Tickets must be rising.
func EncodeTickets(tickets []Decided) []byte {
	if len(tickets) == 0 {
		return nil
	}
	first := tickets[0].Seq
	b := make([]byte, (tickets[len(tickets)-1].Seq-first+1)*decidedSize)
	for _, t := range tickets {
		r := b[(t.Seq-first)*decidedSize:]
		r[0] = byte(t.Verdict)
		binary.BigEndian.PutUint16(r[1:], uint16(t.Quantity))
		copy(r[3:decidedSize], t.Buyer[:])
	}
	return b
}

// DecodeTickets reads what [EncodeTickets] wrote for numbers from first on.
func DecodeTickets(first int64, b []byte) ([]Decided, error) {
	if len(b)%decidedSize != 0 {
		return nil, fmt.Errorf("decision row of %d bytes: not a multiple of %d", len(b), decidedSize)
	}
	tickets := make([]Decided, 0, len(b)/decidedSize)
	for n := 0; n < len(b); n += decidedSize {
		r := b[n : n+decidedSize]
		if r[0] == 0 {
			continue
		}
		tickets = append(tickets, Decided{Seq: first + int64(n/decidedSize), Verdict: Verdict(r[0]),
			Quantity: int(binary.BigEndian.Uint16(r[1:])), Buyer: BuyerHash(r[3:decidedSize])})
	}
	return tickets, nil
}

// ErrUnreadable is the reason of an entry that can not be read.
var ErrUnreadable = errors.New("unreadable queue entry")

// Case is what a batch is judged by: the locked item row and what SQL knows of the batch's tickets and buyers.
type Case struct {
	Item Item
	// Orders has, by number, the order of any status that has a ticket of the batch.
	Orders map[int64]Order
	// Decided has the verdicts of those of the batch's numbers that are decided already, from the decisions.
	Decided map[int64]Verdict
	// Live has the buyers of the batch who have a live order of the item.
	Live map[Buyer]bool
	// Refused has the numbers whose order SQL has refused to insert.
	Refused map[int64]bool
}

// Judge gives each entry of a batch its verdict, in order; the first that applies:
//
//  1. an order of any status has this ticket: won, again
//  2. the number is decided already: what the decisions say, else sold out; nothing is written
//  3. the entry can not be read, or SQL refuses its order: failed
//  4. the item is closed: ended
//  5. the buyer has a live order, or won above: duplicate
//  6. more units than are left, or than the limit: sold out
//  7. won
//
// Fresh reports for each entry whether its verdict is new: numbers that it is true for go into the decision row, and
// those of them that won get an order. Judge neither knows nor checks the epoch and the pause; the caller does.
func (c Case) Judge(entries []Entry) (verdicts []Verdict, fresh []bool) {
	verdicts = make([]Verdict, len(entries))
	fresh = make([]bool, len(entries))
	left, decided := c.Item.Available, c.Item.Decided
	bought := make(map[Buyer]bool, len(entries))
	for n, e := range entries {
		if v, done := c.before(e, decided); done {
			verdicts[n] = v
			continue
		}
		fresh[n] = true
		decided = max(decided, e.Seq)
		verdicts[n] = c.verdict(e, left, bought[e.Buyer])
		if verdicts[n] == Won {
			left -= int64(e.Quantity)
			bought[e.Buyer] = true
		}
	}
	return verdicts, fresh
}

// before is the verdict of an entry that was judged in an earlier run.
func (c Case) before(e Entry, decided int64) (Verdict, bool) {
	if e.Err != nil && e.Seq == 0 {
		return 0, false
	}
	if _, ok := c.Orders[e.Seq]; ok {
		return Won, true
	}
	if e.Seq > decided {
		return 0, false
	}
	if v, ok := c.Decided[e.Seq]; ok {
		return v, true
	}
	return SoldOut, true
}

// verdict is the verdict of an entry that is judged for the first time.
func (c Case) verdict(e Entry, left int64, wonAbove bool) Verdict {
	switch {
	case e.Err != nil || e.Quantity < 1 || !e.Buyer.Valid() || c.Refused[e.Seq]:
		return Failed
	case c.Item.ClosedAt != 0:
		return Ended
	case wonAbove || c.Live[e.Buyer]:
		return Duplicate
	case int64(e.Quantity) > left || e.Quantity > c.Item.PerBuyerLimit:
		return SoldOut
	}
	return Won
}
