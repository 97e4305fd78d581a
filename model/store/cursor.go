package store

import (
	"encoding/base64"
	"encoding/binary"

	"seckill/model"
)

// cursor is where a page of a list ended: the key that the list is sorted by, then the id.
type cursor struct {
	key model.Instant
	id  model.ID
}

// The lists that have cursors; one list's cursor is no good for another.
const (
	itemList  = 'i'
	orderList = 'o'
)

const cursorSize = 1 + 8 + 8

// encode is the opaque text that people send back.
func (c cursor) encode(list byte) string {
	b := make([]byte, 0, cursorSize)
	b = append(b, list)
	b = binary.BigEndian.AppendUint64(b, uint64(c.key))
	b = binary.BigEndian.AppendUint64(b, uint64(c.id))
	return base64.RawURLEncoding.EncodeToString(b)
}

// decodeCursor reads what encode made for this list; anything else is model.Invalid of field after.
func decodeCursor(list byte, s string) (cursor, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) != cursorSize || b[0] != list {
		return cursor{}, model.Invalid(map[string]string{"after": "must be the next of the page before"})
	}
	return cursor{model.Instant(binary.BigEndian.Uint64(b[1:])), model.ID(binary.BigEndian.Uint64(b[9:]))}, nil
}
