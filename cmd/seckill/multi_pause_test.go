package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// givePoints has the instances be of a build whose sellers can be held after the peek.
func (s *shop) givePoints() {
	s.t.Helper()
	built := filepath.Join(s.t.TempDir(), "seckill")
	if err := build(built, "-tags", "testpoints"); err != nil {
		s.t.Fatal(err)
	}
	for _, app := range s.apps {
		app.built, app.env = built, []string{"SECKILL_TESTPOINT_PEEKED=" + app.point()}
	}
}

// point is the file that holds the sellers.
func (p *program) point() string { return filepath.Join(p.dir, "hold") }

// hold has each seller of the instance wait with the next batch that it peeks.
func (p *program) hold() {
	p.t.Helper()
	if err := os.WriteFile(p.point(), nil, 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// release lets the sellers go on.
func (p *program) release() {
	p.t.Helper()
	if err := os.Remove(p.point()); err != nil {
		p.t.Fatal(err)
	}
}

// holds reports whether the item's seller waits with a batch.
func (p *program) holds(itemID string) bool {
	_, err := os.Stat(p.point() + "." + itemID)
	return err == nil
}

// itemOf is one of the items that the instance sells.
func (s *shop) itemOf(app *program, items []string) (found string) {
	s.t.Helper()
	app.hold()
	lines := make([]click, 0, len(items))
	for _, id := range items {
		lines = append(lines, s.insistAll(id, []string{"probe"})...)
	}
	eventually(s.t, 10*time.Second, "a seller is held", func() bool {
		for _, id := range items {
			if app.holds(id) {
				found = id
			}
		}
		return found != ""
	})
	app.release()
	s.verdicts(lines)
	return found
}

// TestOwnerIsFrozenAfterPeek: an instance stops in its tracks for 15 s between the peek of a batch, with winners and
// losers, and its decision. Within 6 s the other one decides the same tickets, until all is sold; then units come back on
// sale, and not all of them are bought. The frozen one wakes in time to decide its batch, and no loser wins by that.
func TestOwnerIsFrozenAfterPeek(t *testing.T) {
	t.Parallel()
	s := openShop(t, plan{points: true})
	items, owner := s.publishMany(manyItems), s.apps[0]
	itemID := s.itemOf(owner, items)
	held := s.holdPeeked(owner, itemID)

	frozen := time.Now()
	s.freeze(owner)
	wakes := time.After(15 * time.Second)
	eventually(t, takeoverWithin, "the other instance has decided", func() bool { return s.undecidedOf(itemID, held) == 0 })
	t.Logf("the other instance had decided %s after the freeze", time.Since(frozen).Round(time.Millisecond))
	told := s.verdicts(held)
	mustBeFirstCome(t, told)
	if row := itemInSQL(t, s.db, itemID); row.available != 0 {
		t.Fatalf("not sold out: %+v", row)
	}
	s.admin().json("POST", "/api/v1/admin/items/"+itemID+"/stock", `{"delta":20,"reason":"found"}`).want(t, http.StatusOK)
	meanwhile := accepted(t, s.insistAll(itemID, names("meanwhile", 5)))
	for n, got := range s.verdicts(meanwhile) {
		if got.Status != "won" {
			t.Errorf("%s was told %q with units left", meanwhile[n].buyer, got.Status)
		}
		held, told = append(held, meanwhile[n]), append(told, got)
	}
	before := itemInSQL(t, s.db, itemID)

	<-wakes
	if !owner.holds(itemID) {
		t.Fatal("the owner has no batch any more")
	}
	owner.release()
	s.thaw(owner)
	eventually(t, 10*time.Second, "the batch goes on", func() bool { return !owner.holds(itemID) })
	s.mustBeShared(len(items))
	if after := itemInSQL(t, s.db, itemID); after != before || after.available == 0 {
		t.Errorf("the item was %+v before the frozen instance woke, and is %+v", before, after)
	}
	s.mustSettle(itemID)
	s.mustStay(held, told)
	s.mustAddUp(itemID, held, told, "sold_out")
	s.mustHold()
}

// holdPeeked lets a line of more buyers than units gather, and returns their clicks when the owner has peeked the line's
// end and waits with it. MariaDB holds still meanwhile, so that the owner does not peek them one by one.
func (s *shop) holdPeeked(owner *program, itemID string) []click {
	t := s.t
	t.Helper()
	s.maria.Freeze()
	held := accepted(t, s.insistAll(itemID, names("before", 80)))
	owner.hold()
	s.maria.Thaw()
	eventually(t, 10*time.Second, "the owner has peeked", func() bool { return owner.holds(itemID) })
	left, undecided := itemInSQL(t, s.db, itemID).available, s.undecidedOf(itemID, held)
	if int64(undecided) <= left {
		t.Fatalf("%d tickets wait for %d units: no loser is among them", undecided, left)
	}
	t.Logf("the owner holds %d tickets for %d units", undecided, left)
	return held
}
