package queue_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/queue/queuetest"
	"seckill/model/queue/redistest"
)

// stall is an item on sale on a Redis of its own, with a judge in memory.
type stall struct {
	*testing.T
	server *redistest.Server
	judge  *queuetest.Memory
	queue  *queue.Redis
	item   model.ID
	given  map[[2]int64]model.Buyer // by epoch and number
}

func openStall(t *testing.T, stock int64, settings ...string) *stall {
	t.Helper()
	s := &stall{T: t, server: redistest.Start(t, settings...), judge: queuetest.NewMemory(), given: map[[2]int64]model.Buyer{}}
	s.queue = s.another()
	item, err := s.judge.Create(t.Context(), model.Item{Title: "Tea", Stock: stock, Available: stock, PerBuyerLimit: 5, StartsAt: 1,
		Epoch: 1, Version: 1})
	must(t, err)
	s.item = item.ID
	s.install()
	return s
}

// another is the queue of one more process.
func (s *stall) another() *queue.Redis {
	s.Helper()
	q, err := queue.OpenRedis(s.judge, queue.RedisOptions{URL: s.server.URL(0)})
	must(s, err)
	s.Cleanup(func() { must(s, q.Close()) })
	return q
}

func (s *stall) row() model.Item {
	s.Helper()
	row, err := s.judge.Item(s.Context(), s.item)
	must(s, err)
	return row
}

func (s *stall) install() {
	s.Helper()
	must(s, s.queue.Install(s.Context(), s.row()))
}

func (s *stall) key(name string) string { return "{" + s.item.String() + "}:" + name }

// join is a click that gets a ticket, whose number nobody has had.
func (s *stall) join(buyer model.Buyer) model.Ticket {
	s.Helper()
	a, err := s.queue.Join(s.Context(), s.item, queue.Click{Buyer: buyer, Quantity: 1})
	if err != nil {
		s.Fatalf("%s: %v", buyer, err)
	}
	key := [2]int64{a.Ticket.Epoch, a.Ticket.Seq}
	if had, given := s.given[key]; given && had != buyer {
		s.Fatalf("%s has the number %v of %s", buyer, key, had)
	}
	s.given[key] = buyer
	return a.Ticket
}

func (s *stall) crowd(name string, n int) []model.Ticket {
	s.Helper()
	tickets := make([]model.Ticket, n)
	for k := range n {
		tickets[k] = s.join(model.Buyer(fmt.Sprint(name, " ", k)))
	}
	return tickets
}

func (s *stall) refused(want error) {
	s.Helper()
	if _, err := s.queue.Join(s.Context(), s.item, queue.Click{Buyer: "somebody", Quantity: 1}); !errors.Is(err, want) {
		s.Fatalf("join: %v, want %v", err, want)
	}
}

// sell decides and settles until the queue is empty, and returns the verdicts by ticket.
func (s *stall) sell() map[model.Ticket]model.Verdict {
	s.Helper()
	told := map[model.Ticket]model.Verdict{}
	for {
		b, err := s.queue.Peek(s.Context(), s.item, 7)
		must(s, err)
		if len(b.Entries) == 0 {
			return told
		}
		verdicts, row, err := s.judge.Decide(s.Context(), s.item, b.Epoch, b.Entries)
		must(s, err)
		must(s, s.queue.Settle(s.Context(), queue.Settlement{Batch: b, Verdicts: verdicts, Item: row}))
		for n, e := range b.Entries {
			told[model.Ticket{Item: s.item, Epoch: e.Epoch, Seq: e.Seq, Quantity: e.Quantity, Buyer: e.Buyer}] = verdicts[n]
		}
	}
}

func (s *stall) look(t model.Ticket) queue.Place {
	s.Helper()
	p, err := s.queue.Look(s.Context(), t)
	must(s, err)
	return p
}

func (s *stall) progress() queue.Progress {
	s.Helper()
	p, err := s.queue.Progress(s.Context(), s.item)
	must(s, err)
	return p[0]
}

// next is the next message of the kind.
func (s *stall) next(messages <-chan queue.Message, kind queue.Kind) queue.Message {
	s.Helper()
	for {
		select {
		case m := <-messages:
			if m.Kind == kind {
				return m
			}
		case <-time.After(20 * time.Second):
			s.Fatalf("no message of kind %d", kind)
		}
	}
}

func TestScriptsThatAreFlushedAreSentAgain(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1000)
	flusher := s.server.Client(0)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := flusher.ScriptFlush(ctx).Err(); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	})
	items := make([]model.ID, 450) // pipelines of several scripts, each with its own answer
	for n := range items {
		items[n] = s.item
	}
	for n := range 40 {
		s.crowd(fmt.Sprint("crowd ", n), 5)
		progress, err := s.queue.Progress(ctx, items...)
		must(t, err)
		for _, p := range progress {
			if p.Queued != 5 {
				t.Fatalf("%+v", p)
			}
		}
		must(t, s.queue.Mirror(ctx, s.row(), s.row()))
		s.sell()
	}
	stop()
	wg.Wait()
	if p := s.progress(); p.Served != 200 || p.Available != 800 {
		t.Errorf("%+v", p)
	}
}

func TestAFrozenRedisTakesInNobodyWhoWasAnswered(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	s.join("ann")
	s.server.Freeze()
	var wg sync.WaitGroup
	for n := range 300 {
		wg.Go(func() {
			start := time.Now()
			_, err := s.queue.Join(t.Context(), s.item, queue.Click{Buyer: model.Buyer(fmt.Sprint("frozen ", n)), Quantity: 1})
			if !errors.Is(err, model.ErrUnavailable) || time.Since(start) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(start))
			}
		})
	}
	wg.Wait()
	_, err := s.queue.Peek(t.Context(), s.item, 1)
	if !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("peek: %v", err)
	}
	s.server.Thaw()
	if bob := s.join("bob"); bob.Seq != 2 {
		t.Errorf("bob's number is %d: somebody who was answered is in line", bob.Seq)
	}
}

func TestACallWithoutAReplyIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100)
	proxy := redistest.NewProxy(t, s.server.Address())
	q, err := queue.OpenRedis(s.judge, queue.RedisOptions{URL: "redis://" + proxy.Address() + "/0"})
	must(t, err)
	defer func() { must(t, q.Close()) }()
	calls := func() (n int) {
		t.Helper()
		stats, _ := s.server.Do("INFO", "commandstats").(string)
		_, after, _ := strings.Cut(stats, "cmdstat_evalsha:calls=")
		_, err := fmt.Sscanf(after, "%d", &n)
		must(t, err)
		return n
	}
	join := func(buyer model.Buyer) (queue.Answer, error) {
		return q.Join(t.Context(), s.item, queue.Click{Buyer: buyer, Quantity: 1})
	}
	_, err = join("ann") // the connection stands, and the clock is known
	must(t, err)
	before := calls()
	proxy.CutReplies("evalsha")
	if a, err := join("bob"); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("%+v, %v", a, err)
	}
	if n := calls() - before; n != 1 {
		t.Errorf("sent %d times", n)
	}
	proxy.CutReplies("")
	if a, err := join("bob"); err != nil || a.Ticket.Seq != 2 {
		t.Errorf("asked again: %+v, %v", a, err)
	}
}

func TestRedisComesBackByItself(t *testing.T) {
	t.Parallel()
	s := openStall(t, 100, "--appendonly", "yes", "--appendfsync", "always")
	messages := s.queue.Subscribe(t.Context())
	early := s.crowd("early", 10)
	s.server.Kill()
	start := time.Now()
	s.refused(model.ErrUnavailable)
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("an outage was told after %v", took)
	}
	s.server.Restart()
	start = time.Now()
	var err error
	for time.Since(start) < 5*time.Second {
		if err = s.queue.Install(t.Context(), s.row()); err == nil {
			break
		}
	}
	must(t, err)
	s.join("late")
	s.next(messages, queue.Missed)
	for _, ticket := range early {
		if p := s.look(ticket); p.State != queue.Queued {
			t.Errorf("%+v", p)
		}
	}
	told := s.sell()
	if len(told) != 11 {
		t.Errorf("%d told", len(told))
	}
}

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

// A file cut by one join: the last in line is lost, everybody before stands, and the number is another ticket's.
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

// A file cut by one settle: what SQL has decided is in line again, and is told again, the same.
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

// Emptied, built up again, and then set back to before it was emptied: there is a gap, and what stands before it is not
// trusted.
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

// A file cut anywhere: nobody who won loses, and a number is nobody else's.
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

// A process that finds another one between SQL and Redis leaves the epoch to it, and the queue is kept.
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

// Somebody allocated an epoch and died. Its number is not told by anybody else, and the queue before the gap is lost.
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

func TestAFullRedisDrains(t *testing.T) {
	t.Parallel()
	s := openStall(t, 3)
	s.crowd("in line", 20)
	s.server.Do("CONFIG", "SET", "maxmemory", "1")
	s.refused(model.ErrUnavailable)
	if again := s.join("in line 0"); again.Seq != 1 {
		t.Errorf("a queued buyer's ticket: %+v", again)
	}
	told := s.sell()
	if p := s.progress(); len(told) != 20 || p.Queued != 0 || p.Available != 0 {
		t.Errorf("%d told, %+v", len(told), p)
	}
	must(t, s.queue.Unmark(t.Context(), model.Ticket{Item: s.item, Epoch: s.row().Epoch, Seq: 1, Quantity: 1, Buyer: "in line 0"}))
	row := s.row()
	row.Version, row.Available = row.Version+1, 7
	must(t, s.queue.Mirror(t.Context(), row))
	_, err := s.queue.Beat(t.Context(), "one")
	must(t, err)
	if p := s.progress(); p.Available != 7 {
		t.Errorf("%+v", p)
	}
	s.server.Do("HDEL", s.key("meta"), "life")
	s.install()
	s.server.Do("CONFIG", "SET", "maxmemory", "0")
	s.refused(model.ErrSoldOut)
}

func TestKilledSubscriptionsAreMissed(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1000)
	messages := s.queue.Subscribe(t.Context())
	for n := range 3 {
		s.server.Do("CLIENT", "KILL", "TYPE", "pubsub")
		s.next(messages, queue.Missed)
		s.join(model.Buyer(fmt.Sprint(n)))
		if m := s.next(messages, queue.Woken); m.Progress.Queued != 1 {
			t.Errorf("%+v", m)
		}
		s.sell()
	}
}

func TestSoldOutIsForgottenWhenTheGateChanges(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	elsewhere := s.another()
	s.join("ann")
	messages := s.queue.Subscribe(t.Context())
	s.sell()
	s.refused(model.ErrSoldOut)
	if a, err := s.queue.Join(t.Context(), s.item, queue.Click{Buyer: "ann", Quantity: 1}); err != nil || !a.Marked {
		t.Errorf("the winner: %+v, %v", a, err)
	}
	row := s.row()
	row.Version, row.Available = row.Version+1, 1
	must(t, elsewhere.Mirror(t.Context(), row))
	s.next(messages, queue.Changed)
	s.join("bob")
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

func TestNumbersBeyondWhatLuaPrints(t *testing.T) {
	t.Parallel()
	s := openStall(t, 5)
	s.server.Do("HSET", s.key("meta"), "seq", "100000000000000", "served", "100000000000000")
	ticket := s.join("ann")
	if ticket.Seq != 100_000_000_000_001 || s.look(ticket).State != queue.Queued || s.sell()[ticket] != model.Won ||
		s.look(ticket).Verdict != model.Won || s.progress().Served != ticket.Seq {
		t.Errorf("%+v, %+v", ticket, s.progress())
	}
}

func TestBeatTellsWhoLives(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	beat := func(instance string, want ...string) {
		t.Helper()
		got, err := s.queue.Beat(t.Context(), instance)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	beat("one", "one")
	beat("two", "one", "two")
	now, err := s.queue.Now(t.Context())
	must(t, err)
	s.server.Do("ZADD", "seckill:workers", int64(now)-4500, "one")
	beat("two", "two")
	beat("one", "one", "two")
	must(t, s.queue.Leave(t.Context(), "two"))
	beat("one", "one")
}

func TestCheckRefusesAServerThatWillNotDo(t *testing.T) {
	t.Parallel()
	s := openStall(t, 1)
	warnings, err := s.queue.Check(t.Context())
	if err != nil || len(warnings) != 1 {
		t.Errorf("%v, %v; want one warning: no append-only file", warnings, err)
	}
	s.server.Do("CONFIG", "SET", "appendonly", "yes")
	if warnings, err := s.queue.Check(t.Context()); err != nil || len(warnings) != 0 {
		t.Errorf("%v, %v", warnings, err)
	}
	s.server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
	if _, err := s.queue.Check(t.Context()); err == nil || errors.Is(err, model.ErrUnavailable) {
		t.Errorf("eviction: %v", err)
	}
	s.server.Kill()
	if _, err := s.queue.Check(t.Context()); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("away: %v", err)
	}
}
