package web

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"seckill/api/sale"
	"seckill/model"
	"seckill/templates"
)

// families are the keys that are put together at run time: how they begin, and how each may end.
var families = map[string][]string{
	"phase.":        {"ended", "upcoming", "paused", "sold_out", "open"},
	"live.phase.":   {"ended", "upcoming", "paused", "sold_out", "open"},
	"live.":         {"queued", "sold_out", "duplicate", "ended", "failed", "lost"},
	"order.status.": {"pending", "paid", "cancelled"},
	"live.refused.": {"not_started", "ended", "paused", "sold_out", "already_bought", "queue_full", "unavailable", "invalid", "rate_limited", "unauthenticated", "not_found", "internal"},
	"form.problem.": {"changed", "sale_started", "stock_below_live", "ended", "unavailable"},
	"notice.":       {"already_bought", "logged_out", "published", "saved", "stock_changed", "paused", "resumed", "closed"},
	"field.":        append(itemFields[:], "delta", "reason", "present", "present_empty"),
	"field.*.hint":  {"description", "image_url", "price", "currency", "starts_at", "ends_at", "time_zone", "delta"},
	"error.":        codes(),
	"error.*.more":  codes(),
}

func codes() []string {
	var found []string
	for code := range pageCodes {
		found = append(found, string(code))
	}
	return append(found, string(model.CodeInternal))
}

// usedKeys is every key that the pages, the scripts and this package name.
func usedKeys(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for begin, ends := range families {
		for _, end := range ends {
			if before, after, ok := strings.Cut(begin, "*"); ok {
				used[before+end+after] = true
			} else {
				used[begin+end] = true
			}
		}
	}
	quoted := regexp.MustCompile(`"([a-z_]+\.[a-z_.]+)"`)
	for _, pattern := range []string{"*.go", "../templates/*.html", "../static/*.js"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
				used[m[1]] = true
			}
		}
	}
	return used
}

// notKeys are quoted words with a dot that are no keys.
var notKeys = regexp.MustCompile(`\.(html|svg|css|js)$|\.$|^price\.$|^seckill\.`)

func TestEveryKeyIsThereAndUsed(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(templates.Files, "messages/*.json")
	if err != nil {
		t.Fatal(err)
	}
	used := usedKeys(t)
	for _, name := range names {
		content, err := fs.ReadFile(templates.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		var there map[string]any
		if err := json.Unmarshal(content, &there); err != nil {
			t.Fatal(err)
		}
		for _, key := range slices.Sorted(maps.Keys(used)) {
			if there[key] == nil && !notKeys.MatchString(key) {
				t.Errorf("%s: no text for %s", name, key)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(there)) {
			if !used[key] && !strings.HasPrefix(key, "reason.") {
				t.Errorf("%s: nobody uses %s", name, key)
			}
		}
	}
}

// TestEveryReasonHasAText breaks the rules of package model, and those of a stock change, one by one.
func TestEveryReasonHasAText(t *testing.T) {
	t.Parallel()
	c, err := newCatalogue(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	texts := c.in("en")
	empty, control, long, address := "", "a\x07", strings.Repeat("x", model.MaxDescription+1), "/"+strings.Repeat("x", 3000)
	bad, minus, early, word := "\xff", int64(-1), model.Instant(1), "ftp://x"
	told := []map[string]string{sale.WrongStock(0, long)}
	for _, d := range []model.Draft{
		{}, {Title: &empty, Amount: &minus, Currency: &bad, Stock: &minus}, {Title: &control}, {Title: &long},
		{Description: &bad}, {ImageURL: &address}, {ImageURL: &word}, {EndsAt: &early},
	} {
		_, err := d.Item(1000, func(string) bool { return false })
		told = append(told, fieldsOf(err))
	}
	for _, reasons := range told {
		for field, reason := range reasons {
			if key := "reason." + numbers.ReplaceAllString(reason, "#"); !texts.has(key) {
				t.Errorf("%s: no text for %q", field, key)
			}
		}
	}
	if got := texts.Reason("must be 1 to 200"); got != "must be 1 to 200" {
		t.Errorf("Reason = %q", got)
	}
	if got := texts.Reason("never seen"); got != "never seen" {
		t.Errorf("an unknown reason is %q", got)
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	c, err := newCatalogue(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	for _, accept := range []string{"", "en-GB, fr;q=0.5", "zh-Hant-HK, zh;q=0.9", ";;;=,"} {
		if lang := c.in(accept).Lang; lang != "en" {
			t.Errorf("Accept-Language %q: %s", accept, lang)
		}
	}
	texts := c.in("")
	for got, want := range map[string]string{
		texts.N("live.queued", 1):                                 "You are in line. 1 buyer is before you.",
		texts.N("live.queued", 12):                                "You are in line. 12 buyers are before you.",
		texts.N("live.next", 1):                                   "You are next in line.",
		texts.T("no.such.key"):                                    "no.such.key",
		texts.Money(model.Money{Amount: 129900, Currency: "EUR"}): "€1,299.00",
		texts.Money(model.Money{Amount: 1299, Currency: "JPY"}):   "¥1,299",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if texts.Scripts["live.queued"]["one"] == "" || texts.Scripts["phase.open"]["other"] == "" || texts.Scripts["nav.items"] != nil {
		t.Errorf("texts for scripts: %v", texts.Scripts)
	}
}
