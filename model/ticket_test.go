package model

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

func TestATicketAnswersOnlyToItsBuyer(t *testing.T) {
	t.Parallel()
	mac := NewTicketMAC([]byte("new secret"), []byte("old secret"))
	want := Ticket{Item: 1<<63 - 1, Epoch: 2, Seq: 3, Quantity: 1000, Buyer: "a|b"}
	s := mac.Sign(want)
	if got, err := mac.Parse(s, "a|b"); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if !strings.HasPrefix(s, "9223372036854775807-2-3-") {
		t.Error(s)
	}
	for _, buyer := range []Buyer{"", "a", "A|b", "a|b "} {
		if _, err := mac.Parse(s, buyer); !errors.Is(err, ErrNotFound) {
			t.Errorf("answers to %q: %v", buyer, err)
		}
	}
	old := NewTicketMAC([]byte("old secret")).Sign(want)
	if _, err := mac.Parse(old, "a|b"); err != nil {
		t.Errorf("of the old secret: %v", err)
	}
	if _, err := NewTicketMAC([]byte("new secret")).Parse(old, "a|b"); !errors.Is(err, ErrNotFound) {
		t.Errorf("of a secret that is gone: %v", err)
	}
}

func TestForgedTicketsAreNotFound(t *testing.T) {
	t.Parallel()
	mac := NewTicketMAC([]byte("secret"))
	s := mac.Sign(Ticket{Item: 11, Epoch: 2, Seq: 3, Quantity: 1, Buyer: "a"})
	tail := strings.SplitN(s, "-", 4)[3]
	raw, err := base64.RawURLEncoding.DecodeString(tail)
	if err != nil {
		t.Fatal(err)
	}
	raw[1]++ // one unit more
	forged := []string{"", "11-2-3", "11-2-3-", "12-2-3-" + tail, "11-3-3-" + tail, "11-2-4-" + tail, "1-12-3-" + tail,
		"011-2-3-" + tail, "11-0-3-" + tail, "11-2--3-" + tail, s + "A", s[:len(s)-1], s + "=", "11-2-3-!",
		"11-2-3-" + base64.RawURLEncoding.EncodeToString(raw), "11-2-3-" + strings.Repeat("A", 24)}
	for _, s := range forged {
		if got, err := mac.Parse(s, "a"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q is %+v, %v", s, got, err)
		}
	}
}

func TestBuyersAreBytes(t *testing.T) {
	t.Parallel()
	if Buyer("").Valid() || Buyer(strings.Repeat("x", MaxBuyer+1)).Valid() || !Buyer("\xff\x00").Valid() {
		t.Error("bounds of a buyer id")
	}
	if Buyer("abc").Hash() == Buyer("ABC").Hash() || Buyer("abc").Hash() != (BuyerHash{0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea}) {
		t.Error("hashes of buyer ids")
	}
}

func TestAnOrderKnowsItsTicketAndWhetherItIsLive(t *testing.T) {
	t.Parallel()
	order := Order{Item: 1, Epoch: 2, Seq: 3, Quantity: 4, Buyer: "a"}
	if got := order.Ticket(); got != (Ticket{Item: 1, Epoch: 2, Seq: 3, Quantity: 4, Buyer: "a"}) {
		t.Errorf("%+v", got)
	}
	for status, want := range map[OrderStatus]bool{OrderPending: true, OrderPaid: true, OrderCancelled: false} {
		if order.Status = status; order.Live() != want {
			t.Errorf("%s is live: %v", status, !want)
		}
	}
	if got := (Money{5, "CNY"}).Times(3); got != (Money{15, "CNY"}) {
		t.Errorf("%+v", got)
	}
}
