package model

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

func click(seq int64, buyer Buyer, quantity int) Entry {
	return Entry{Epoch: 1, Seq: seq, At: 1, Quantity: quantity, Buyer: buyer}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	open := Item{Available: 3, PerBuyerLimit: 2, Decided: 10}
	closed := open
	closed.ClosedAt = 1
	damaged := Entry{Seq: 11, Err: ErrUnreadable}
	for name, test := range map[string]struct {
		c       Case
		entries []Entry
		want    []Verdict
		fresh   []bool
	}{
		"nothing": {Case{Item: open}, nil, []Verdict{}, []bool{}},
		"who does not fit is passed over": {Case{Item: open},
			[]Entry{click(11, "a", 2), click(12, "b", 2), click(13, "c", 1), click(14, "d", 1)},
			[]Verdict{Won, SoldOut, Won, SoldOut}, []bool{true, true, true, true}},
		"one each": {Case{Item: open, Live: map[Buyer]bool{"b": true}},
			[]Entry{click(11, "a", 1), click(12, "a", 1), click(13, "b", 1), click(14, "A", 1)},
			[]Verdict{Won, Duplicate, Duplicate, Won}, []bool{true, true, true, true}},
		"a loser may try again": {Case{Item: open}, []Entry{click(11, "a", 3), click(12, "a", 1)},
			[]Verdict{SoldOut, Won}, []bool{true, true}},
		"the limit": {Case{Item: Item{Available: 9, PerBuyerLimit: 2}}, []Entry{click(1, "a", 3), click(2, "b", 2)},
			[]Verdict{SoldOut, Won}, []bool{true, true}},
		"decided before": {Case{Item: open, Decided: map[int64]Verdict{9: Duplicate, 10: Failed}},
			[]Entry{click(8, "a", 1), click(9, "b", 1), {Seq: 10, Err: ErrUnreadable}, click(11, "c", 1)},
			[]Verdict{SoldOut, Duplicate, Failed, Won}, []bool{false, false, false, true}},
		"an order of any status is a win": {Case{Item: closed, Orders: map[int64]Order{
			9: {Status: OrderCancelled}, 12: {Status: OrderPaid}}},
			[]Entry{click(9, "a", 1), click(12, "b", 1)}, []Verdict{Won, Won}, []bool{false, false}},
		"close": {Case{Item: closed, Live: map[Buyer]bool{"b": true}},
			[]Entry{damaged, click(12, "b", 1), click(13, "c", 9)},
			[]Verdict{Failed, Ended, Ended}, []bool{true, true, true}},
		"failures take nothing": {Case{Item: open, Refused: map[int64]bool{12: true}},
			[]Entry{damaged, click(12, "a", 2), click(13, "", 1), click(14, "b", 0), {Err: ErrUnreadable}, click(15, "a", 2)},
			[]Verdict{Failed, Failed, Failed, Failed, Failed, Won}, []bool{true, true, true, true, true, true}},
		"a number twice": {Case{Item: open}, []Entry{click(11, "a", 1), click(11, "b", 1)},
			[]Verdict{Won, SoldOut}, []bool{true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts, fresh := test.c.Judge(test.entries)
			if !slices.Equal(verdicts, test.want) || !slices.Equal(fresh, test.fresh) {
				t.Errorf("%v %v, want %v %v", verdicts, fresh, test.want, test.fresh)
			}
		})
	}
}

func TestTicketsOfADecisionComeBack(t *testing.T) {
	t.Parallel()
	want := []Decided{{Seq: 7, Verdict: Won, Quantity: MaxPerBuyer, Buyer: Buyer("a").Hash()}, {Seq: 8, Verdict: Failed},
		{Seq: 12, Verdict: Ended, Quantity: 1, Buyer: Buyer("b").Hash()}}
	b := EncodeTickets(want)
	got, err := DecodeTickets(7, b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if len(b) != 6*decidedSize {
		t.Errorf("%d bytes for the numbers 7 to 12", len(b))
	}
	if _, err := DecodeTickets(7, b[1:]); err == nil {
		t.Error("read a damaged row")
	}
	if got, err := DecodeTickets(1, EncodeTickets(nil)); err != nil || len(got) != 0 {
		t.Errorf("nothing: %v, %v", got, err)
	}
}

func TestVerdictNames(t *testing.T) {
	t.Parallel()
	for v, want := range []string{"", "won", "sold_out", "duplicate", "ended", "failed", ""} {
		if got := Verdict(v).String(); got != want {
			t.Errorf("%d: %q", v, got)
		}
	}
}

func TestErrorsAreKnownByTheirCode(t *testing.T) {
	t.Parallel()
	order := Order{No: "1"}
	if err := error(AlreadyBought(order)); !errors.Is(err, &Error{Code: CodeAlreadyBought}) || errors.Is(err, ErrEnded) {
		t.Errorf("%v", err)
	}
	if got := Invalid(map[string]string{"b": "is bad", "a": "is worse"}).Error(); got != "invalid: a: is worse; b: is bad" {
		t.Error(got)
	}
}
