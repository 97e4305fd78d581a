package main_test

import (
	"fmt"
	"testing"
	"time"
)

// TestTheSameBuyersJoinAgain: Redis loses the line, in turn all of it and its newest part, and those who stood in it click
// again, so that many have the very number again that they lost. A lost ticket stays lost, whatever the new one gets.
func TestTheSameBuyersJoinAgain(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{redis: []string{"--appendfsync", "always"}})
	it := s.admin().publish(map[string]any{"stock": 100})
	for _, app := range s.apps {
		s.mustSellAt(app, it.ID) // so that each knows the item
	}
	var line []click
	again := 0
	for round, lose := range []func(before int64){func(int64) { s.redis.Do("FLUSHALL") }, s.redis.CutFile} {
		s.maria.Freeze()
		size := s.redis.FileSize()
		buyers := names(fmt.Sprint("round-", round), 10)
		first := s.joinInTurn(it.ID, buyers)
		lose(size)
		<-time.After(6 * time.Second) // the batches under way are given up: the line is decided by nobody
		s.maria.Thaw()
		second := s.joinInTurn(it.ID, buyers)
		for n := range first {
			if first[n].ticket.Seq == second[n].ticket.Seq && first[n].ticket.Epoch != second[n].ticket.Epoch {
				again++
			}
		}
		line = append(append(line, first...), second...)
		told := s.verdicts(line)
		s.mustAddUp(it.ID, line, told, "sold_out", "duplicate", "lost")
		s.mustStay(line, told)
	}
	if again == 0 {
		t.Error("nobody has had their number again")
	}
	t.Logf("%d numbers were given to their buyers again", again)
	s.mustHold()
}

// joinInTurn has one buyer click after the other, and returns the clicks, all of which get a ticket.
func (s *shop) joinInTurn(itemID string, buyers []string) (line []click) {
	s.t.Helper()
	for _, buyer := range buyers {
		line = append(line, accepted(s.t, s.insistAll(itemID, []string{buyer}))...)
	}
	return line
}
