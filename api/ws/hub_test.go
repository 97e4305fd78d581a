package ws

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"seckill/model"
	"seckill/model/queue"
)

func TestStateComesFirstThenVerdictProgressAndItem(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{item: func(i *model.Item) { i.Stock = 1 }})
	p := s.page("ann")
	st := p.state
	if st.Ticket != nil || st.Order != nil || st.Epoch != 1 || st.Served != 0 || st.ServerTime == "" || st.Item.Phase != model.PhaseOpen {
		t.Fatalf("state %s", st.raw)
	}
	for _, field := range []string{`"ticket":null`, `"order":null`, `"queued":0`, `"type":"state"`} {
		if !strings.Contains(st.raw, field) {
			t.Errorf("state %s lacks %s", st.raw, field)
		}
	}
	ticket := s.buy("ann")
	s.sell(10)
	if v := p.verdict(); v.Ticket != ticket.Ticket || v.Status != "won" || v.Order == nil {
		t.Errorf("verdict %+v, want won with its order", v)
	}
	var progress, item bool
	for !progress || !item {
		e := p.until("progress and item", func(event) bool { return true })
		progress = progress || e.Type == "progress" && e.Served == 1 && e.Available == 0 && e.Queued == 0 && e.ItemID == s.item.ID.String()
		item = item || e.Type == "item" && e.Item.Phase == model.PhaseSoldOut
	}
}

func TestEveryPageOfTheBuyerAndNobodyElseGetsTheVerdict(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	first, second, other, anonymous := s.page("ann"), s.page("ann"), s.page("bob"), s.page("")
	ticket := s.buy("ann")
	s.sell(10)
	for _, p := range []*page{first, second} {
		if v := p.verdict(); v.Ticket != ticket.Ticket || v.Status != "won" {
			t.Errorf("verdict %+v", v)
		}
	}
	s.buy("bob")
	s.sell(10)
	if v := other.verdict(); v.Seq != 2 {
		t.Errorf("bob was told of ticket %d", v.Seq)
	}
	anonymous.until("the end of the line", func(e event) bool {
		if isVerdict(e) || strings.Contains(e.raw, ticket.Ticket) {
			t.Errorf("nobody was told %s", e.raw)
		}
		return e.Type == "progress" && e.Served == 2
	})
	again := s.page("ann")
	if st := again.state; st.Ticket == nil || st.Ticket.Status != "won" || st.Order == nil || st.Served != 2 {
		t.Errorf("state after coming back %s", st.raw)
	}
	if st := s.page("").state; st.Ticket != nil || st.Order != nil {
		t.Errorf("state of nobody %s", st.raw)
	}
}

func TestVerdictWhileTheStateIsReadComesAfterIt(t *testing.T) {
	t.Parallel()
	var s *shop
	s = openShop(t, setup{
		queue: func(q queue.Queue) queue.Queue { return blind{q} },
		found: func() {
			s.sell(10)
			r := s.hub.room(s.item.ID)
			eventually(t, "the verdict waits", func() bool {
				r.mu.Lock()
				defer r.mu.Unlock()
				for w := range r.sockets {
					if w.held != nil {
						return true
					}
				}
				return false
			})
		},
	})
	ticket := s.buy("ann")
	p := s.page("ann")
	if p.state.Ticket == nil || p.state.Ticket.Status != "queued" {
		t.Fatalf("state %s", p.state.raw)
	}
	if v := p.verdict(); v.Ticket != ticket.Ticket || v.Status != "won" {
		t.Errorf("verdict %+v", v)
	}
}

// Verdicts fall before, between and after subscription, reads and state; none may need the look-up of lost ones.
func TestNoVerdictFallsBetweenStateAndEvents(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{queue: func(q queue.Queue) queue.Queue { return blind{q} }})
	s.page("") // the room is there, and has heard of what was settled from the first number on
	const rounds, buyers = 8, 20
	for round := range rounds {
		var all sync.WaitGroup
		for n := range buyers {
			buyer := fmt.Sprintf("buyer-%d-%d", round, n)
			all.Go(func() { s.buy(buyer) })
			all.Go(func() {
				p := s.page(buyer)
				if p.state.Ticket == nil || p.state.Ticket.Status == "queued" {
					p.verdict()
				}
			})
		}
		done := make(chan struct{})
		go func() {
			all.Wait()
			close(done)
		}()
		for running := true; running; {
			s.sell(1)
			select {
			case <-done:
				running = false
			default:
			}
		}
	}
}

func TestLostMessagesDelayVerdictsByAboutASecond(t *testing.T) {
	t.Parallel()
	for name, pass := range map[string]func() func(queue.Message) bool{
		"all": func() func(queue.Message) bool {
			return func(queue.Message) bool { return false }
		},
		"one, then others come": func() func(queue.Message) bool {
			settled := 0
			return func(m queue.Message) bool {
				if m.Kind == queue.Settled {
					settled++
				}
				return settled != 1
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openShop(t, setup{item: func(i *model.Item) { i.Stock = 2 },
				queue: func(q queue.Queue) queue.Queue { return filtered{q, pass()} }})
			s.buy("before")
			before, after, loser, anybody := s.page("before"), s.page("after"), s.page("loser"), s.page("")
			s.buy("after")
			s.buy("loser")
			start := time.Now()
			s.sell(1)
			for p, want := range map[*page]string{before: "won", after: "won", loser: "sold_out"} {
				if v := p.verdict(); v.Status != want {
					t.Errorf("verdict %+v, want %s", v, want)
				}
			}
			anybody.until("sold out", func(e event) bool { return e.Type == "item" && e.Item.Phase == model.PhaseSoldOut })
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestMissedMessagesAreLookedUpAtOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{queue: func(q queue.Queue) queue.Queue {
		return filtered{q, func(queue.Message) bool { return false }}
	}})
	p := s.page("ann")
	s.buy("ann")
	s.sell(1)
	s.hub.hand(queue.Message{Kind: queue.Missed})
	if v := p.verdict(); v.Status != "won" {
		t.Errorf("verdict %+v", v)
	}
}

func TestProgressAtMostFourASecondAndTheLastValue(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	p := s.page("")
	start := time.Now()
	clicks := make(chan int64, 1)
	go func() {
		n := int64(0)
		for ; time.Since(start) < 2*time.Second; n++ {
			s.buy(fmt.Sprint("buyer", n))
			s.sell(1)
		}
		clicks <- n
	}()
	var frames, last, all int64
	p.until("the last click", func(e event) bool {
		if e.Type != "progress" {
			return false
		}
		if e.Served < last {
			t.Errorf("served went from %d to %d", last, e.Served)
		}
		last = e.Served
		frames++
		select {
		case all = <-clicks:
		default:
		}
		return all > 0 && last == all
	})
	if took := time.Since(start); frames < 2 || frames > int64(took/(250*time.Millisecond))+1 {
		t.Errorf("%d frames for %d clicks in %v", frames, all, took)
	}
}

func TestItemIsSentWhenItsPhaseChangesByTime(t *testing.T) {
	t.Parallel()
	hour := model.Instant(time.Hour / time.Millisecond)
	now := model.InstantOf(time.Now())
	s := openShop(t, setup{item: func(i *model.Item) { i.StartsAt, i.EndsAt = now+hour, now+2*hour }})
	p := s.page("ann")
	if p.state.Item.Phase != model.PhaseUpcoming {
		t.Fatalf("phase %s", p.state.Item.Phase)
	}
	for ahead, want := range []model.Phase{1: model.PhaseOpen, 2: model.PhaseEnded} {
		if ahead == 0 {
			continue
		}
		start := time.Now()
		s.ahead.Store(int64(hour) * int64(ahead))
		e := p.until("item", func(e event) bool { return e.Type == "item" })
		if e.Item.Phase != want {
			t.Errorf("phase %s, want %s", e.Item.Phase, want)
		}
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s took %v", want, took)
		}
	}
}

func TestItemIsSentWhenAnAdminChangesIt(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	p := s.page("")
	ctx := context.Background()
	item, err := s.store.AdjustStock(ctx, s.item.ID, 5, "found more")
	must(t, err)
	must(t, s.queue.Mirror(ctx, item))
	p.until("stock", func(e event) bool { return e.Type == "item" && e.Item.Stock == s.item.Stock+5 })
	item, err = s.store.SetPaused(ctx, s.item.ID, true, model.InstantOf(time.Now()))
	must(t, err)
	must(t, s.queue.Mirror(ctx, item))
	p.until("pause", func(e event) bool { return e.Type == "item" && e.Item.Phase == model.PhasePaused })
}

func TestSlowPageIsDroppedAndOthersGetAll(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	s.unread("slow")
	const healthy = 500
	pages := make([]*page, healthy)
	for n := range pages {
		pages[n] = s.page("")
	}
	eventually(t, "all are open", func() bool { return s.hub.Len() == healthy+1 })

	const wide, frames = 10, 50 // the wide ones fill what the system keeps for the slow page
	var all sync.WaitGroup
	got := make(chan error, healthy)
	for _, p := range pages {
		all.Go(func() {
			for n := range frames {
				got <- p.expect(fmt.Sprintf(`"title":"Tea %d"`, n))
			}
		})
	}
	defer all.Wait()
	r := s.hub.room(s.item.ID)
	view, err := s.desk.Item(context.Background(), s.item.ID)
	must(t, err)
	view.Description = strings.Repeat("wide ", 4000)
	for n := range frames {
		if n == wide {
			view.Description = ""
		}
		view.Title = fmt.Sprint("Tea ", n)
		r.refresh(view, r.readAt)
		for range healthy {
			must(t, <-got)
		}
	}
	eventually(t, "the slow page is dropped", func() bool { return s.hub.Len() == healthy })
}

func TestShutdownClosesFiveHundredWith1001(t *testing.T) {
	t.Parallel()
	s := openShop(t, setup{})
	pages := make([]*page, 500)
	for n := range pages {
		pages[n] = s.page(fmt.Sprint("buyer", n))
	}
	s.unread("stuck")
	eventually(t, "all are open", func() bool { return s.hub.Len() == len(pages)+1 })
	var all sync.WaitGroup
	for _, p := range pages {
		all.Go(func() {
			if code := p.closeCode(); code != websocket.CloseGoingAway {
				t.Errorf("closed with %d", code)
			}
		})
	}
	start := time.Now()
	s.stop()
	<-s.ended
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	all.Wait()
	if n := s.hub.Len(); n != 0 {
		t.Errorf("%d sockets left", n)
	}
	refused(t, s, model.CodeUnavailable)
}

// BenchmarkBroadcast is the time from an item's change to its arrival at every page, the pages' own reading included, and
// of that the time the hub is held up.
func BenchmarkBroadcast(b *testing.B) {
	for _, sockets := range []int{1_000, 5_000} {
		b.Run(fmt.Sprint(sockets), func(b *testing.B) {
			s := openShop(b, setup{})
			arrived := make(chan error, sockets)
			for range sockets {
				p := s.page("")
				go func() {
					for err := error(nil); err == nil; {
						_, _, err = p.conn.ReadMessage()
						arrived <- err
					}
				}()
			}
			r := s.hub.room(s.item.ID)
			view, err := s.desk.Item(context.Background(), s.item.ID)
			must(b, err)
			n := 0
			var hub time.Duration
			for b.Loop() {
				n++
				view.Title = fmt.Sprint("Tea ", n)
				start := time.Now()
				r.refresh(view, r.readAt)
				hub += time.Since(start)
				for range sockets {
					must(b, <-arrived)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*sockets), "ns/socket")
			b.ReportMetric(float64(hub.Nanoseconds())/float64(n*sockets), "hub-ns/socket")
		})
	}
}
