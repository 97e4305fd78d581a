package store

import (
	"math"
	"testing"
)

// A row whose numbers can not be right is refused before it can move the item's numbers: what is decided is never taken
// back, and after the highest number of all there would be none left to give.
func TestLoadJournalRefusesImpossibleNumbers(t *testing.T) {
	t.Parallel()
	for name, row := range map[string][2]int64{
		"backwards":        {5, 1},
		"too many":         {1, 1 << 30},
		"beyond exactness": {maxSeq + 1, maxSeq + 1},
		"the last":         {math.MaxInt64, math.MaxInt64},
		"all":              {math.MinInt64, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := onSQLite.open(t, Options{})
			item := createItem(t, s)
			exec(t, s, "INSERT INTO journal VALUES (?, ?, ?, X'00')", item.ID, row[0], row[1])
			if groups, err := s.LoadJournal(t.Context(), item.ID); err == nil {
				t.Errorf("%+v", groups)
			}
		})
	}
	s := onSQLite.open(t, Options{})
	item := createItem(t, s)
	exec(t, s, "INSERT INTO journal VALUES (?, ?, ?, X'00')", item.ID, int64(maxSeq), int64(maxSeq))
	if groups, err := s.LoadJournal(t.Context(), item.ID); err != nil || len(groups) != 1 {
		t.Errorf("the highest number: %v, %v", groups, err)
	}
}
