package queue

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"seckill/model"
	"seckill/model/queue/redistest"
)

// TestScriptsDoAsASmallModel runs random scripts on a real server and holds each reply, every key after it and all that
// was published against a model of slices and maps.
func TestScriptsDoAsASmallModel(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	db := server.Database()
	r, err := OpenRedis(nil, RedisOptions{URL: server.URL(db)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	r.FakeClock()
	client := server.Client(db)
	heard := client.Subscribe(t.Context(), r.channel)
	defer func() { _ = heard.Close() }()
	if _, err := heard.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := model.ID(1)
	rapid.Check(t, func(rt *rapid.T) {
		m := &scripted{rt: rt, r: r, client: client, heard: heard, id: id, now: 1_900_000_000_000}
		id++
		m.wipe()
		m.setClock()
		rt.Repeat(map[string]func(*rapid.T){"": m.check, "join": m.join, "join again": m.join, "peek": m.peek, "settle": m.settle,
			"settle again": m.settle, "mirror": m.mirror, "unmark": m.unmark, "look": m.look, "find": m.find,
			"progress": m.progress, "install": m.install, "another life": m.otherLife, "empty": m.empty, "poison": m.poison, "time": m.time})
	})
}

// scripted is one item as the scripts should leave it.
type scripted struct {
	rt     *rapid.T
	r      *Redis
	client *redis.Client
	heard  *redis.PubSub
	id     model.ID
	now    int64

	there, alive       bool
	epoch, seq, served int64
	gate               [6]int64 // version, available, starts_at, ends_at, paused, closed
	cuts               map[int64]int64
	list               []lined
	marks              map[string]string
	verdicts           map[int64]string
}

type lined struct {
	line       string
	epoch, seq int64
	quantity   int64
	buyer      string
	poison     bool
}

func (m *scripted) wipe() {
	m.there, m.alive, m.list = false, false, nil
	m.epoch, m.seq, m.served, m.gate = 0, 0, 0, [6]int64{}
	m.cuts, m.marks, m.verdicts = map[int64]int64{}, map[string]string{}, map[int64]string{}
}

func (m *scripted) do(err error) {
	if err != nil {
		m.rt.Fatal(err)
	}
}

func (m *scripted) setClock() { m.do(m.r.SetClock(context.Background(), model.Instant(m.now))) }

// run calls a script and holds its reply, and what it published, against the model.
func (m *scripted) run(s *redis.Script, args []any, want []any, published ...string) {
	m.rt.Helper()
	got, err := m.r.run(context.Background(), call{s, itemKeys(m.id), args})
	m.do(err)
	if fmt.Sprintf("%q", []any(got)) != fmt.Sprintf("%q", want) {
		m.rt.Fatalf("reply %q, want %q", []any(got), want)
	}
	for _, p := range published {
		msg, err := m.heard.ReceiveMessage(context.Background())
		m.do(err)
		if msg.Payload != p {
			m.rt.Fatalf("published %q, want %q", msg.Payload, p)
		}
	}
}

// refused is the reply of every script but install while the state does not stand.
func (m *scripted) refused() []any {
	switch {
	case !m.there:
		return []any{"missing"}
	case !m.alive:
		return []any{"stale", text(m.epoch)}
	}
	return nil
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

func (m *scripted) message(kind, told string) string {
	return fmt.Sprintf("%s|%d|%d|%d|%d|%d|%d|%d|%s", kind, m.id, m.epoch, m.served, m.seq, len(m.list), m.gate[1], m.gate[0], told)
}

// check holds every key against the model.
func (m *scripted) check(*rapid.T) {
	ctx, keys := context.Background(), itemKeys(m.id)
	meta, err := m.client.HGetAll(ctx, keys[0]).Result()
	m.do(err)
	want := map[string]string{}
	if m.there {
		for n, name := range []string{"version", "available", "starts_at", "ends_at", "paused", "closed"} {
			want[name] = text(m.gate[n])
		}
		for epoch, cut := range m.cuts {
			want["cut:"+text(epoch)] = text(cut)
		}
		want["epoch"], want["seq"], want["served"] = text(m.epoch), text(m.seq), text(m.served)
		if life := meta["life"]; (life != "another") != m.alive {
			m.rt.Fatalf("life %q, alive: %v", life, m.alive)
		}
		want["life"] = meta["life"]
	}
	m.same("meta", meta, want)
	lines, err := m.client.LRange(ctx, keys[1], 0, -1).Result()
	m.do(err)
	var wantLines []string
	for _, l := range m.list {
		wantLines = append(wantLines, l.line)
	}
	m.same("queue", lines, wantLines)
	marks, err := m.client.HGetAll(ctx, keys[2]).Result()
	m.do(err)
	m.same("marks", marks, m.marks)
	verdicts, err := m.client.HGetAll(ctx, keys[3]).Result()
	m.do(err)
	wantVerdicts := map[string]string{}
	for seq, v := range m.verdicts {
		wantVerdicts[text(seq)] = v
	}
	m.same("verdicts", verdicts, wantVerdicts)
}

func (m *scripted) same(what string, got, want any) {
	m.rt.Helper()
	if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
		m.rt.Fatalf("%s: %s, want %s", what, g, w)
	}
}

var shoppers = []string{"a", "b", "c", "A", "-1.1.1", "1|1|1|1|1|a", "\x00\xff"}

func (m *scripted) someone(rt *rapid.T) string { return rapid.SampledFrom(shoppers).Draw(rt, "buyer") }

func (m *scripted) refusal() string {
	switch {
	case m.gate[5] == 1 || m.gate[3] != 0 && m.now >= m.gate[3]:
		return "ended"
	case m.now < m.gate[2]:
		return "not_started"
	case m.gate[4] == 1:
		return "paused"
	case m.gate[1] <= 0:
		return "sold_out"
	}
	return ""
}

func (m *scripted) join(rt *rapid.T) {
	notAfter := m.now + rapid.Int64Range(0, 8).Draw(rt, "not after")
	bound := rapid.IntRange(1, 12).Draw(rt, "bound")
	args := []any{notAfter, bound, m.r.channel}
	clicks := rapid.IntRange(1, 6).Draw(rt, "clicks")
	var buyers []string
	var quantities []int64
	for range clicks {
		buyers = append(buyers, m.someone(rt))
		quantities = append(quantities, rapid.Int64Range(1, 3).Draw(rt, "quantity"))
		args = append(args, buyers[len(buyers)-1], quantities[len(quantities)-1])
	}
	if bad := m.refused(); bad != nil {
		m.run(m.r.scripts.join, args, bad)
		return
	}
	if m.now >= notAfter {
		m.run(m.r.scripts.join, args, []any{"late", text(m.now)})
		return
	}
	before, first, empty := m.seq, map[string]int{}, len(m.list) == 0
	var answers []any
	for n, buyer := range buyers {
		mark, marked := m.marks[buyer]
		switch refusal := m.refusal(); {
		case first[buyer] > 0:
			answers = append(answers, "="+strconv.Itoa(first[buyer]))
		case marked && mark[0] != '-':
			answers = append(answers, mark)
		case refusal != "":
			answers = append(answers, refusal)
		case len(m.list) >= bound:
			answers = append(answers, "queue_full")
		default:
			answers = append(answers, "+")
			first[buyer] = n + 1
			m.seq++
			e := model.Entry{Epoch: m.epoch, Seq: m.seq, At: model.Instant(m.now), Quantity: int(quantities[n]), Buyer: model.Buyer(buyer)}
			m.list = append(m.list, lined{string(EncodeEntry(e)), m.epoch, m.seq, quantities[n], buyer, false})
			m.marks[buyer] = fmt.Sprintf("%d.%d.%d", m.epoch, m.seq, quantities[n])
		}
	}
	var published []string
	if empty && len(m.list) > 0 {
		published = append(published, m.message("woken", ""))
	}
	want := []any{"ok", text(m.now), text(m.epoch), text(m.served), text(before), strconv.Itoa(len(m.list)), answers}
	m.run(m.r.scripts.join, args, want, published...)
}

func (m *scripted) peek(rt *rapid.T) {
	most := rapid.IntRange(0, 5).Draw(rt, "most")
	want := m.refused()
	if want == nil {
		lines := []any{}
		for _, l := range m.list[:min(most, len(m.list))] {
			lines = append(lines, l.line)
		}
		want = []any{"ok", text(m.epoch), text(m.served), text(m.seq), text(m.gate[0]), strconv.Itoa(len(m.list)), lines}
	}
	m.run(m.r.scripts.peek, []any{most}, want)
}

// row is a gate as a caller may send it: older, equal or newer.
func (m *scripted) row(rt *rapid.T) (row [6]int64, args []any) {
	row = [6]int64{m.gate[0] + rapid.Int64Range(-2, 3).Draw(rt, "version"), rapid.Int64Range(-1, 3).Draw(rt, "available"),
		m.now + rapid.Int64Range(-9, 1).Draw(rt, "starts"), 0, 0, 0}
	if rapid.IntRange(0, 3).Draw(rt, "has an end") == 0 {
		row[3] = m.now + rapid.Int64Range(0, 20).Draw(rt, "ends")
	}
	if rapid.IntRange(0, 7).Draw(rt, "paused") == 0 {
		row[4] = 1
	}
	if rapid.IntRange(0, 9).Draw(rt, "closed") == 0 {
		row[5] = 1
	}
	return row, gateArgs(row)
}

func gateArgs(row [6]int64) (args []any) {
	for _, v := range row {
		args = append(args, v)
	}
	return args
}

func (m *scripted) settle(rt *rapid.T) {
	n := rapid.IntRange(0, min(4, len(m.list))).Draw(rt, "n")
	batch := m.list[:n]
	row, _ := m.row(rt)
	sold := int64(rapid.IntRange(0, 2).Draw(rt, "sold"))
	if rapid.Bool().Draw(rt, "row as after a sale") {
		row = m.gate
		row[0]++
		row[1] -= sold
	}
	epoch, head, last := m.epoch, "", int64(0)
	if n > 0 {
		head, last = batch[0].line, batch[n-1].seq
	}
	if rapid.IntRange(0, 5).Draw(rt, "of another epoch") == 0 {
		epoch++
	}
	if rapid.IntRange(0, 4).Draw(rt, "settled before") == 0 {
		head = "1|1|1|1|1|gone"
	}
	args := append([]any{epoch, head, n, last, sold, m.r.channel, "told"}, gateArgs(row)...)
	var given []string
	for _, l := range batch {
		v := rapid.SampledFrom([]string{"won", "sold_out", "duplicate", "ended", "failed"}).Draw(rt, "verdict")
		given = append(given, v)
		ticket := ""
		if !l.poison {
			ticket = ticketMark(l.epoch, l.seq)
		}
		args = append(args, l.seq, v, l.buyer, ticket)
	}
	if bad := m.refused(); bad != nil {
		m.run(m.r.scripts.settle, args, bad)
		return
	}
	if epoch != m.epoch {
		m.run(m.r.scripts.settle, args, []any{"epoch"})
		return
	}
	stands := n > 0 && head == batch[0].line
	before, newer := m.gate, row[0] > m.gate[0]
	if stands {
		m.take(batch, given)
	}
	if newer {
		m.gate = row
	}
	var published []string
	answer := "again"
	if stands {
		answer = "ok"
		published = append(published, m.message("settled", "told"))
	}
	before[0]++
	before[1] -= sold
	if newer && !(stands && sold > 0 && before == row) {
		published = append(published, m.message("changed", ""))
	}
	m.run(m.r.scripts.settle, args, []any{answer}, published...)
}

func (m *scripted) take(batch []lined, given []string) {
	for k, l := range batch {
		if _, told := m.verdicts[l.seq]; !told && given[k] != "sold_out" {
			m.verdicts[l.seq] = given[k]
		}
		mine := fmt.Sprintf("%d.%d.%d", l.epoch, l.seq, l.quantity)
		if given[k] != "won" && !l.poison && m.marks[l.buyer] == mine {
			m.marks[l.buyer] = "-" + mine
		}
		m.served = max(m.served, l.seq)
	}
	m.list = slices.Clone(m.list[len(batch):])
}

func (m *scripted) mirror(rt *rapid.T) {
	row, args := m.row(rt)
	force := rapid.IntRange(0, 5).Draw(rt, "force") == 0
	want := m.refused()
	var published []string
	if want == nil {
		want = []any{"ok"}
		if force || row[0] > m.gate[0] {
			m.gate = row
			published = append(published, m.message("changed", ""))
		}
	}
	m.run(m.r.scripts.mirror, append([]any{m.r.channel, flag(force)}, args...), want, published...)
}

func (m *scripted) unmark(rt *rapid.T) {
	buyer := m.someone(rt)
	var t model.Ticket
	if mark, ok := m.marks[buyer]; !ok || mark[0] == '-' || readMark(mark, &t) != nil || rapid.IntRange(0, 2).Draw(rt, "another") == 0 {
		t.Epoch, t.Seq = rapid.Int64Range(1, m.epoch+1).Draw(rt, "epoch"), rapid.Int64Range(1, m.seq+2).Draw(rt, "seq")
	}
	want := m.refused()
	if want == nil {
		want = []any{"ok"}
		var marked model.Ticket
		if mark := m.marks[buyer]; mark != "" && mark[0] != '-' && readMark(mark, &marked) == nil &&
			marked.Epoch == t.Epoch && marked.Seq == t.Seq && t.Seq <= m.served {
			m.marks[buyer] = "-" + mark
		}
	}
	m.run(m.r.scripts.unmark, []any{buyer, ticketMark(t.Epoch, t.Seq), t.Seq}, want)
}

// place is what look answers for a ticket of a state that stands.
func (m *scripted) place(epoch, seq int64) []any {
	answer := func(state, verdict string, ahead int64) []any {
		return []any{"ok", text(m.epoch), state, text(ahead), verdict}
	}
	cut, kept := m.cuts[epoch]
	switch {
	case epoch > m.epoch || epoch == m.epoch && seq > m.seq:
		return answer("unknown", "", 0)
	case epoch < m.epoch && (!kept || seq > cut):
		return answer("gone", "", 0)
	case m.verdicts[seq] != "":
		return answer("decided", m.verdicts[seq], 0)
	case seq <= m.served:
		return answer("decided", "sold_out", 0)
	}
	return answer("queued", "", max(min(seq-m.served, int64(len(m.list)))-1, 0))
}

func (m *scripted) look(rt *rapid.T) {
	epoch, seq := rapid.Int64Range(max(1, m.epoch-3), m.epoch+1).Draw(rt, "epoch"), rapid.Int64Range(1, m.seq+2).Draw(rt, "seq")
	want := m.refused()
	if want == nil {
		want = m.place(epoch, seq)
	}
	m.run(m.r.scripts.look, []any{epoch, seq}, want)
}

func (m *scripted) find(rt *rapid.T) {
	buyer := m.someone(rt)
	want := m.refused()
	if mark, ok := m.marks[buyer]; want == nil && !ok {
		want = []any{"none"}
	} else if want == nil {
		if mark[0] == '-' {
			mark = mark[1:]
		}
		var t model.Ticket
		m.do(readMark(mark, &t))
		want = append(m.place(t.Epoch, t.Seq), mark)
	}
	m.run(m.r.scripts.find, []any{buyer}, want)
}

func (m *scripted) progress(*rapid.T) {
	want := m.refused()
	if want == nil {
		want = []any{"ok", text(m.epoch), text(m.served), text(m.seq), strconv.Itoa(len(m.list)), text(m.gate[1]), text(m.gate[0])}
	}
	m.run(m.r.scripts.progress, nil, want)
}

func (m *scripted) install(rt *rapid.T) {
	epoch := max(1, m.epoch+rapid.SampledFrom([]int64{-1, 0, 1, 1, 1, 2, 3}).Draw(rt, "epochs on"))
	base := max(0, m.seq+rapid.Int64Range(-3, 3).Draw(rt, "base"))
	row, rowArgs := m.row(rt)
	args := append([]any{m.r.channel, epoch, base}, rowArgs...)
	want := []any{"ok"}
	switch {
	case m.there && m.epoch >= epoch:
		m.run(m.r.scripts.install, args, []any{"newer"})
		return
	case m.there && m.epoch+1 == epoch:
		want = []any{"kept"}
		for e, cut := range maps.Clone(m.cuts) {
			m.cuts[e] = min(cut, m.seq)
		}
		m.cuts[m.epoch] = m.seq
		m.seq = max(m.seq, base)
		if !m.alive || row[0] > m.gate[0] {
			m.gate = row
		}
	default:
		m.wipe()
		m.seq, m.served, m.gate = base, base, row
	}
	m.epoch, m.there, m.alive = epoch, true, true
	m.run(m.r.scripts.install, args, want, m.message("changed", ""))
}

func (m *scripted) otherLife(rt *rapid.T) {
	if !m.there || rapid.IntRange(0, 3).Draw(rt, "often enough") > 0 {
		rt.Skip("not now")
	}
	m.do(m.client.HSet(context.Background(), itemKeys(m.id)[0], "life", "another").Err())
	m.alive = false
}

func (m *scripted) empty(rt *rapid.T) {
	if rapid.IntRange(0, 9).Draw(rt, "often enough") > 0 {
		rt.Skip("not now")
	}
	m.do(m.client.Unlink(context.Background(), itemKeys(m.id)...).Err())
	m.wipe()
}

func (m *scripted) poison(rt *rapid.T) {
	if !m.there || rapid.IntRange(0, 3).Draw(rt, "often enough") > 0 {
		rt.Skip("not now")
	}
	ctx, keys := context.Background(), itemKeys(m.id)
	m.seq++
	m.do(m.client.RPush(ctx, keys[1], "garbage").Err())
	m.do(m.client.HSet(ctx, keys[0], "seq", m.seq).Err())
	m.list = append(m.list, lined{line: "garbage", seq: m.seq, poison: true})
}

func (m *scripted) time(rt *rapid.T) {
	m.now += rapid.Int64Range(0, 5).Draw(rt, "ms")
	m.setClock()
}
