package model

// MaxAmount is the largest price of one unit, in minor units.
const MaxAmount = 1_000_000_000_000

// Money is an amount in minor units (cents, fen) of a currency by its ISO 4217 code.
type Money struct {
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
}

// Times is the amount for n units.
func (m Money) Times(n int) Money { return Money{m.Amount * int64(n), m.Currency} }
