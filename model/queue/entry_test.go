package queue_test

import (
	"errors"
	"strings"
	"testing"

	"seckill/model"
	"seckill/model/queue"
)

func TestEntryComesBackAsItWent(t *testing.T) {
	t.Parallel()
	for _, buyer := range []model.Buyer{"ann", "a|b||", "|", "\x00\xff\n", model.Buyer(strings.Repeat("b", model.MaxBuyer))} {
		want := model.Entry{Epoch: 1 << 40, Seq: 1<<63 - 1, At: 1_900_000_000_123, Quantity: model.MaxPerBuyer, Buyer: buyer}
		if got := queue.DecodeEntry(queue.EncodeEntry(want)); got != want {
			t.Errorf("%q: %+v", buyer, got)
		}
	}
	line := queue.EncodeEntry(model.Entry{Epoch: 2, Seq: 17, At: 5, Quantity: 3, Buyer: "x|y"})
	if string(line) != "1|2|17|5|3|x|y" {
		t.Errorf("the form that other readers know: %q", line)
	}
}

func TestUnreadableEntries(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "1", "garbage", "1|1|1|1|1", "2|1|1|1|1|ann", "01|1|1|1|1|ann", "1|0|1|1|1|ann", "1|1|0|1|1|ann",
		"1|1|1|0|1|ann", "1|1|1|1|0|ann", "1|1|1|1|-1|ann", "1|1|1|1|1001|ann", "1|1|1|1|4294967297|ann", "1|x|1|1|1|ann",
		"1|1|9223372036854775808|1|1|ann", "1|1|1|1|1e3|ann", "1|1|1|1|1|", "1|1|1|1| 1|ann",
		"1|1|1|1|1|" + strings.Repeat("b", model.MaxBuyer+1), strings.Repeat("1|", 1<<20)} {
		e := queue.DecodeEntry([]byte(line))
		if !errors.Is(e.Err, model.ErrUnreadable) || e.Buyer != "" || len(e.Err.Error()) > 200 {
			t.Errorf("%.40q: %+v", line, e)
		}
	}
}

// What can be read is valid, and is read again from its own form.
func FuzzDecodeEntry(f *testing.F) {
	f.Add([]byte("1|2|17|5|3|x|y"))
	f.Add([]byte("1|+2|017|5|3|x"))
	f.Add([]byte("1|||||"))
	f.Fuzz(func(t *testing.T, line []byte) {
		e := queue.DecodeEntry(line)
		if e.Err != nil {
			if !errors.Is(e.Err, model.ErrUnreadable) {
				t.Fatal(e.Err)
			}
			return
		}
		if !e.Buyer.Valid() || e.Epoch < 1 || e.Seq < 1 || e.At < 1 || e.Quantity < 1 || e.Quantity > model.MaxPerBuyer {
			t.Fatalf("%q was read as %+v", line, e)
		}
		if again := queue.DecodeEntry(queue.EncodeEntry(e)); again != e {
			t.Fatalf("%+v came back as %+v", e, again)
		}
	})
}
