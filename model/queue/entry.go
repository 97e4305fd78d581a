package queue

import (
	"bytes"
	"fmt"
	"strconv"

	"seckill/model"
)

// EncodeEntry is an entry's line in a queue: 1|epoch|seq|at|quantity|buyer, where 1 is the form, at is in Unix
// milliseconds and buyer is the rest of the line, any bytes.
func EncodeEntry(e model.Entry) []byte {
	return appendEntry(make([]byte, 0, 48+len(e.Buyer)), e)
}

func appendEntry(b []byte, e model.Entry) []byte {
	b = append(b, "1|"...)
	for _, n := range [...]int64{e.Epoch, e.Seq, int64(e.At), int64(e.Quantity)} {
		b = strconv.AppendInt(b, n, 10)
		b = append(b, '|')
	}
	return append(b, e.Buyer...)
}

// maxEntry is the longest line that EncodeEntry makes of a valid entry, in bytes.
const maxEntry = 2 + 4*20 + model.MaxBuyer

// DecodeEntry reads a line. One that can not be read gives an entry with Err set (model.ErrUnreadable, wrapped).
func DecodeEntry(line []byte) model.Entry {
	if len(line) > maxEntry {
		return unreadable("%d bytes", len(line))
	}
	fields := bytes.SplitN(line, []byte("|"), 6)
	if len(fields) != 6 || string(fields[0]) != "1" {
		return unreadable("unknown form %.40q", line)
	}
	var n [4]int64
	for i := range n {
		v, err := strconv.ParseInt(string(fields[i+1]), 10, 64)
		if err != nil || v < 1 {
			return unreadable("field %d of %.40q", i+1, line)
		}
		n[i] = v
	}
	e := model.Entry{Epoch: n[0], Seq: n[1], At: model.Instant(n[2]), Quantity: int(n[3]), Buyer: model.Buyer(fields[5])}
	if !e.Buyer.Valid() || n[3] > model.MaxPerBuyer {
		return unreadable("buyer or quantity of %.40q", line)
	}
	return e
}

func unreadable(format string, args ...any) model.Entry {
	return model.Entry{Err: fmt.Errorf("%w: "+format, append([]any{model.ErrUnreadable}, args...)...)}
}
