package store

import (
	"database/sql/driver"
	"fmt"

	"seckill/model"
)

// maybe is an instant that is NULL in SQL when there is none.
type maybe model.Instant

// Value implements driver.Valuer.
func (m maybe) Value() (driver.Value, error) {
	if m == 0 {
		return nil, nil
	}
	return int64(m), nil
}

// Scan implements sql.Scanner.
func (m *maybe) Scan(from any) error {
	switch v := from.(type) {
	case nil:
		*m = 0
	case int64:
		*m = maybe(v)
	default:
		return fmt.Errorf("instant from %T", from)
	}
	return nil
}
