package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/queuetest"
)

func TestAnotherLifeIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	ann := s.join("ann")
	batch, err := s.queue.Peek(t.Context(), s.item, 1)
	must(t, err)
	s.server.Do("HSET", s.key("meta"), "life", "another")

	s.refused(queue.ErrStale)
	ctx, row := t.Context(), s.row()
	row.Version, row.Available = 9, 5
	_, peeked := s.queue.Peek(ctx, s.item, 1)
	_, found := s.queue.Find(ctx, s.item, "ann")
	settled := s.queue.Settle(ctx, queue.Settlement{Batch: batch, Verdicts: []model.Verdict{model.Won}, Item: row})
	for what, err := range map[string]error{"peek": peeked, "find": found, "settle": settled, "unmark": s.queue.Unmark(ctx, ann),
		"mirror": s.queue.Mirror(ctx, row)} {
		if !errors.Is(err, queue.ErrStale) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if p := s.look(ann); p.State != queue.Unknown || p.Ticket != ann {
		t.Errorf("look: %+v", p)
	}
	if p := s.progress(); p != (queue.Progress{Item: s.item}) {
		t.Errorf("progress: %+v", p)
	}
	if n := s.server.Do("LLEN", s.key("queue")); n != int64(1) {
		t.Errorf("%v in line", n)
	}
	s.install()
	if p := s.progress(); p.Version != 1 || p.Epoch != 3 || p.Queued != 1 || s.look(ann).State != queue.Queued {
		t.Errorf("installed again: %+v", p)
	}
}

func TestAnEmptiedRedisKeepsTheWinners(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	winners := s.crowd("winner", 40)
	s.sell()
	waiting := s.crowd("waiting", 20)
	s.server.Do("FLUSHALL")
	s.refused(queue.ErrMissing)
	s.install()
	for _, ticket := range append(winners, waiting...) {
		if p := s.look(ticket); p.State != queue.Gone || p.Epoch != s.row().Epoch {
			t.Fatalf("%+v", p)
		}
	}
	s.join("winner 3")
	s.crowd("waiting", 20)
	s.crowd("new", 80)
	won := 0
	for ticket, v := range s.sell() {
		if v == model.Won {
			won++
		}
		if ticket.Buyer == "winner 3" && v != model.Duplicate {
			t.Errorf("a winner's second ticket: %v", v)
		}
	}
	if p := s.progress(); won != 60 || p.Available != 0 {
		t.Errorf("%d won, %+v", won, p)
	}
}

func TestAnOlderFileLosesWhatCameAfterIt(t *testing.T) {
	t.Parallel()
	s := openStall(t, 2, "--appendonly", "yes", "--appendfsync", "always")
	kept := s.crowd("kept", 4)
	size := s.server.FileSize()
	lost := s.join("lost")
	s.server.CutFile(size)
	s.refused(queue.ErrStale)
	s.install()
	if p := s.look(lost); p.State != queue.Gone || p.Epoch != s.row().Epoch {
		t.Errorf("the lost ticket: %+v", p)
	}
	for n, ticket := range kept {
		if p := s.look(ticket); p.State != queue.Queued || p.Ahead != int64(n) {
			t.Errorf("a kept ticket: %+v", p)
		}
	}
	if again := s.join("lost"); again == lost || again.Epoch == lost.Epoch {
		t.Errorf("the lost one's new ticket: %+v", again)
	}
	if p := s.look(lost); p.State != queue.Gone {
		t.Errorf("the lost ticket, with its number given again: %+v", p)
	}
	if told := s.sell(); told[kept[0]] != model.Won || told[kept[2]] != model.SoldOut || len(told) != 5 {
		t.Errorf("told %v", told)
	}
}

func TestAnOlderFileSettlesAgain(t *testing.T) {
	t.Parallel()
	s := openStall(t, 2, "--appendonly", "yes", "--appendfsync", "always")
	s.crowd("early", 5)
	size := s.server.FileSize()
	before := s.sell()
	s.server.CutFile(size)
	s.install()
	row := s.row()
	row.Version, row.Available = row.Version+1, 1
	must(t, s.queue.Mirror(t.Context(), row))
	late := s.join("late")
	if late.Seq <= 5 {
		t.Errorf("number %d was decided before", late.Seq)
	}
	after := s.sell()
	if after[late] != model.SoldOut {
		t.Errorf("late: %v", after[late])
	}
	delete(after, late)
	if !maps.Equal(before, after) {
		t.Errorf("told %v, and then %v", before, after)
	}
	for ticket, v := range before {
		if p := s.look(ticket); p.Verdict != v {
			t.Errorf("%+v, want %v", p, v)
		}
	}
}

func TestAFileFromBeforeTheLastRebuildIsThrownAway(t *testing.T) {
	t.Parallel()
	s := openStall(t, 2, "--appendonly", "yes", "--appendfsync", "always")
	tickets := s.crowd("before", 5)
	size := s.server.FileSize()
	s.server.Do("FLUSHALL")
	s.install()
	tickets = append(tickets, s.crowd("after", 3)...)
	s.sell()
	s.server.CutFile(size)
	s.install()
	for _, ticket := range tickets {
		if p := s.look(ticket); p.State != queue.Gone {
			t.Errorf("%+v", p)
		}
	}
	if p := s.progress(); p.Queued != 0 || p.Available != 0 || p.Epoch != s.row().Epoch || p.Served != s.row().Decided {
		t.Errorf("%+v", p)
	}
}

func TestAFileCutByAThird(t *testing.T) {
	t.Parallel()
	s := openStall(t, 60, "--appendonly", "yes", "--appendfsync", "always")
	verdicts := map[model.Ticket]model.Verdict{}
	for life := range 4 {
		s.crowd(fmt.Sprint("life ", life), 12)
		for ticket, v := range s.sell() {
			if had, told := verdicts[ticket]; told && had != v {
				t.Errorf("%+v was %v and is %v", ticket, had, v)
			}
			verdicts[ticket] = v
		}
		s.crowd(fmt.Sprint("life and death ", life), 6)
		s.server.CutFile(s.server.FileSize() * 2 / 3)
		s.install()
		for ticket, v := range verdicts {
			if p := s.look(ticket); p.State == queue.Decided && (p.Verdict == model.Won) != (v == model.Won) {
				t.Errorf("%+v was %v and is %v", ticket, v, p.Verdict)
			}
		}
	}
	s.sell()
	if p, row := s.progress(), s.row(); p.Available != row.Available {
		t.Errorf("%+v, and SQL has %+v", p, row)
	}
}

func TestRebuildsAtOnceKeepTheQueue(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	tickets := s.crowd("in line", 10)
	s.server.Do("HSET", s.key("meta"), "life", "another")
	row := s.row()
	var wg sync.WaitGroup
	for range 6 {
		q := s.another()
		wg.Go(func() {
			if err := q.Install(t.Context(), row); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if p, now := s.progress(), s.row(); p.Epoch != now.Epoch || now.Epoch != row.Epoch+1 || p.Queued != 10 {
		t.Errorf("%+v, epoch %d in SQL, %d before", p, now.Epoch, row.Epoch)
	}
	if p := s.look(tickets[9]); p.State != queue.Queued || p.Ahead != 9 {
		t.Errorf("%+v", p)
	}
}

// watched tells when a row has been read.

type watched struct {
	*queuetest.Memory
	read chan struct{}
}

func (w watched) Item(ctx context.Context, id model.ID) (model.Item, error) {
	row, err := w.Memory.Item(ctx, id)
	select {
	case w.read <- struct{}{}:
	default:
	}
	return row, err
}

func TestInstallLeavesAnEpochToWhomItBelongs(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	ticket := s.join("ann")
	row, _, err := s.judge.NextEpoch(t.Context(), s.item, s.row().Epoch)
	must(t, err)
	w := watched{s.judge, make(chan struct{}, 1)}
	other, err := queue.OpenRedis(w, queue.RedisOptions{URL: s.server.URL(0)})
	must(t, err)
	defer func() { must(t, other.Close()) }()
	installed := make(chan error)
	go func() { installed <- other.Install(t.Context(), row) }()
	<-w.read
	for range 50 { // meanwhile the other one looks at Redis
		s.progress()
	}
	must(t, s.queue.SendInstall(t.Context(), row))
	must(t, <-installed)
	if p := s.progress(); p.Epoch != row.Epoch || s.row().Epoch != row.Epoch || s.look(ticket).State != queue.Queued {
		t.Errorf("%+v, epoch %d in SQL", p, s.row().Epoch)
	}
}

func TestAnEpochThatWasNeverToldIsPassedOver(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	ticket := s.join("ann")
	_, ok, err := s.judge.NextEpoch(t.Context(), s.item, s.row().Epoch)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	s.install()
	if p := s.progress(); p.Epoch != s.row().Epoch || p.Epoch != ticket.Epoch+2 || p.Queued != 0 {
		t.Errorf("%+v", p)
	}
	if p := s.look(ticket); p.State != queue.Gone {
		t.Errorf("%+v", p)
	}
}

func TestReconcileOverwritesWhatSQLHasLost(t *testing.T) {
	t.Parallel()
	s := openStall(t, 5)
	row := s.row()
	row.Version, row.Available = 50, 1
	must(t, s.queue.Mirror(t.Context(), row))
	must(t, s.queue.Reconcile(t.Context(), s.item))
	if p := s.progress(); p.Version != 1 || p.Available != 5 {
		t.Errorf("%+v", p)
	}
	s.server.Do("HSET", s.key("meta"), "available", "3") // of the same version: not its business
	must(t, s.queue.Reconcile(t.Context(), s.item))
	if p := s.progress(); p.Available != 3 {
		t.Errorf("%+v", p)
	}
}
