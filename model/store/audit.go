package store

import (
	"context"

	"seckill/model"
)

// Check is one promise held against the stores.
type Check struct {
	Promise  string   `json:"promise"` // "I1" … "I11"
	OK       bool     `json:"ok"`
	Breaches []Breach `json:"breaches"`
}

// Breach is one place where a promise does not hold.
type Breach struct {
	Item   *model.ID `json:"item"`
	Order  *string   `json:"order"` // its number
	Detail string    `json:"detail"`
}

// Audit checks each promise that SQL can show, all from one snapshot, so that it is right during a sale too. An error
// means that it could not look.
func (s *Store) Audit(ctx context.Context) ([]Check, error) { panic("todo") }
