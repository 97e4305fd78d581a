package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strconv"
	"strings"
)

// Ticket is a place in an item's queue. The quantity is that of the buyer's first click.
type Ticket struct {
	Item     ID
	Epoch    int64
	Seq      int64
	Quantity int
	Buyer    Buyer
}

// TicketMAC signs tickets, so that a number tells its verdict only to its own buyer. It keeps several secrets for
// rotation: the first signs, all verify.
type TicketMAC struct{ secrets [][]byte }

// NewTicketMAC takes at least one secret, the newest first.
func NewTicketMAC(secrets ...[]byte) TicketMAC { return TicketMAC{secrets: secrets} }

// ticketMACSize is how many bytes of the HMAC a ticket carries.
const ticketMACSize = 16

// Sign is the ticket's public form, <item>-<epoch>-<seq>-<mac>. The last part holds the quantity (two bytes) and the
// first 16 bytes of an HMAC-SHA256 over item, epoch, seq, quantity and buyer, in unpadded base64url.
func (m TicketMAC) Sign(t Ticket) string {
	tail := make([]byte, 2, 2+ticketMACSize)
	binary.BigEndian.PutUint16(tail, uint16(t.Quantity))
	tail = append(tail, ticketSum(m.secrets[0], t)...)
	b := make([]byte, 0, 80)
	b = strconv.AppendInt(b, int64(t.Item), 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, t.Epoch, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, t.Seq, 10)
	b = append(b, '-')
	return string(base64.RawURLEncoding.AppendEncode(b, tail))
}

// Parse reads a ticket that Sign made for this buyer. A malformed, forged or foreign one is [ErrNotFound].
func (m TicketMAC) Parse(s string, buyer Buyer) (Ticket, error) {
	parts := strings.SplitN(s, "-", 4)
	if len(parts) != 4 {
		return Ticket{}, ErrNotFound
	}
	item, err := ParseID(parts[0])
	if err != nil {
		return Ticket{}, ErrNotFound
	}
	epoch, err := ParseID(parts[1])
	if err != nil {
		return Ticket{}, ErrNotFound
	}
	seq, err := ParseID(parts[2])
	if err != nil {
		return Ticket{}, ErrNotFound
	}
	tail, err := base64.RawURLEncoding.Strict().DecodeString(parts[3])
	if err != nil || len(tail) != 2+ticketMACSize {
		return Ticket{}, ErrNotFound
	}
	t := Ticket{Item: item, Epoch: int64(epoch), Seq: int64(seq), Buyer: buyer,
		Quantity: int(binary.BigEndian.Uint16(tail))}
	for _, secret := range m.secrets {
		if hmac.Equal(ticketSum(secret, t), tail[2:]) {
			return t, nil
		}
	}
	return Ticket{}, ErrNotFound
}

func ticketSum(secret []byte, t Ticket) []byte {
	msg := make([]byte, 0, 32+len(t.Buyer)+7)
	msg = append(msg, "ticket\x00"...)
	msg = binary.BigEndian.AppendUint64(msg, uint64(t.Item))
	msg = binary.BigEndian.AppendUint64(msg, uint64(t.Epoch))
	msg = binary.BigEndian.AppendUint64(msg, uint64(t.Seq))
	msg = binary.BigEndian.AppendUint16(msg, uint16(t.Quantity))
	msg = append(msg, t.Buyer...)
	h := hmac.New(sha256.New, secret)
	h.Write(msg)
	return h.Sum(nil)[:ticketMACSize]
}
