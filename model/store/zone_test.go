package store

import (
	"context"
	"os"
	command "os/exec" // exec is SQL's here
	"testing"
	"time"

	"seckill/model"
)

func TestTimesAreExact(t *testing.T) {
	eachDatabase(t, func(t *testing.T, db database) {
		s := db.open(t, Options{})
		item := createItem(t, s)
		before := model.InstantOf(time.Now())
		decide(t, s, item.ID, entry(1, "a", 1))
		after := model.InstantOf(time.Now())
		order, err := s.BuyerOrder(context.Background(), item.ID, "a")
		// SQLite rounds to the nearest millisecond.
		if err != nil || order.CreatedAt < before || order.CreatedAt > after+1 || order.ExpiresAt != order.CreatedAt.Add(15*time.Minute) {
			t.Errorf("created at %s, expires at %s, not between %s and %s, %v", order.CreatedAt, order.ExpiresAt, before, after, err)
		}
	})
}

// The servers of the tests are in time zones of their own; so is the program here.
func TestTimeZonesMakeNoDifference(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"America/St_Johns", "Australia/Lord_Howe"} {
		cmd := command.Command(os.Args[0], "-test.run=^(TestTimesAreExact|TestItemsKeepEveryFieldToTheMillisecond|TestProcessesMigrateAtOnce)$/^(sqlite|mariadb)$")
		cmd.Env = append(os.Environ(), "TZ="+zone)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("in %s: %v\n%s", zone, err, out)
		}
	}
}
