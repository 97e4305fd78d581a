package model

import "crypto/sha256"

// MaxBuyer is the longest buyer id, in bytes.
const MaxBuyer = 128

// Buyer is who clicks Buy: 1 to [MaxBuyer] opaque bytes, compared bytewise. 'abc', 'ABC' and 'abc ' are three buyers.
type Buyer string

// Valid reports whether b has 1 to [MaxBuyer] bytes.
func (b Buyer) Valid() bool { return len(b) >= 1 && len(b) <= MaxBuyer }

// BuyerHash is the first eight bytes of the SHA-256 of a buyer id. Decisions keep it beside each verdict, so that a
// number tells its verdict only to its own buyer.
type BuyerHash [8]byte

// Hash is the buyer's [BuyerHash].
func (b Buyer) Hash() BuyerHash {
	sum := sha256.Sum256([]byte(b))
	return BuyerHash(sum[:8])
}
