package worker

import (
	"fmt"
	"slices"
	"testing"

	"seckill/model"
)

func TestEachItemHasOneOwnerAndStaysWithIt(t *testing.T) {
	t.Parallel()
	live := []string{"ann", "bob", "cid", "dan"}
	without := []string{"ann", "bob", "dan"}
	share := map[string]int{}
	const items = 4000
	for n := range items {
		item := model.ID(1<<40 + n<<12)
		owner := ownerOf(item, live)
		share[owner]++
		shuffled := slices.Clone(live)
		slices.Reverse(shuffled)
		if again := ownerOf(item, shuffled); again != owner {
			t.Fatalf("item %v has the owners %s and %s", item, owner, again)
		}
		if then := ownerOf(item, without); owner != "cid" && then != owner || then == "cid" {
			t.Fatalf("item %v went from %s to %s when cid left", item, owner, then)
		}
	}
	for _, name := range live {
		if n := share[name]; n < items/4*85/100 || n > items/4*115/100 {
			t.Errorf("%s has %d of %d items", name, n, items)
		}
	}
	if owner := ownerOf(1, nil); owner != "" {
		t.Errorf("nobody lives, and %q is the owner", owner)
	}
}

func TestOwnersTellWhenTheyChange(t *testing.T) {
	t.Parallel()
	o := owners{self: "ann"}
	if o.known() || o.owns(1) {
		t.Error("it owns before it knows who lives")
	}
	for _, c := range []struct {
		live    []string
		changed bool
	}{{[]string{"ann"}, true}, {[]string{"ann"}, false}, {[]string{"ann", "bob"}, true}, {[]string{"bob"}, true}} {
		if changed := o.set(c.live); changed != c.changed {
			t.Errorf("%v: changed %v", c.live, changed)
		}
	}
	if o.owns(1) {
		t.Error("it owns and does not live")
	}
	o.set([]string{"ann"})
	for n := range 100 {
		if !o.owns(model.ID(n)) {
			t.Error(fmt.Sprint("alone, it does not own item ", n))
		}
	}
}
