package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// hostile is text that means something to some parser on the way. None of it is a number, an instant, an id, a
// currency, a path or an https address.
var hostile = []string{
	"abc", "NaN", "Infinity", "-Infinity", "1e999", "１", "0x10", "1_000", "1,000", "1 OR 1=1", "'; DROP TABLE items;--",
	`" OR ""="`, "<script>alert(1)</script>", "../../../etc/passwd", "${7*7}", "{{7*7}}", "%00", "%s%n", "\u202e", "😀",
	"null", "true", "[]", "{}", "\u2028", "javascript:alert(1)", "//evil.example/x.png", `\\evil\x`, "http://a.example/x.png",
}

// unspaced is hostile without what people may leave around a value.
var unspaced = slices.DeleteFunc(slices.Clone(hostile), func(s string) bool { return strings.TrimSpace(s) == "" })

// quoted is each text as a JSON string.
func quoted(texts ...string) []string {
	all := make([]string, len(texts))
	for n, s := range texts {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err) // no text fails
		}
		all[n] = string(b)
	}
	return all
}

// otherTypes is a value of every JSON type but string and number, and what only looks like JSON.
var otherTypes = []string{"true", "false", "[]", "[1]", "{}", `{"a":1}`, "NaN", "Infinity", "-", "0x10", "01", "+1", "1_000",
	"'1'", "undefined", ""}

// wrongIntegers is JSON for a field that is an integer of low to high.
func wrongIntegers(low, high int64) []string {
	all := append(quoted(append(hostile, "1", "")...), otherTypes...)
	all = append(all, "null", "1.0", "1.5", "1e0", "1E2", "-0.0", "1e999", "-1e999", "9223372036854775808", "-9223372036854775809",
		strings.Repeat("9", 40), strings.Repeat("9", 5000), fmt.Sprint(low-1), fmt.Sprint(high+1))
	return all
}

// wrongTexts is JSON for a field that is a text, beside the texts that are wrong for this field.
func wrongTexts(texts ...string) []string {
	all := append(quoted(texts...), otherTypes...)
	return append(all, "null", "1", "1.5", "1e999", `"\ud800"`, `"\x41"`, "\"\xff\xfe\"", `"open`, "\"a\nb\"")
}

// wrongInstants is JSON for a field that is an instant.
func wrongInstants() []string {
	return wrongTexts(append(slices.Clone(hostile), "", "1", "2026-01-02", "2026-01-02T03:04:05", "2026-13-01T00:00:00Z",
		"2026-02-30T00:00:00Z", "2026-01-02T25:00:00Z", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05+99:00", "0000-00-00T00:00:00Z",
		"1969-12-31T23:59:59Z", "+10000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "2026-01-02T03:04:05Z x", "Tue Jan 2 2026")...)
}

// badCalls is, for every field of a JSON call, the JSON that is wrong there.
type badCalls struct {
	method, path string
	// good is the fields of a body that is right, as JSON; those of the price are price.amount and price.currency.
	good map[string]string
	bad  map[string][]string
}

// itemFieldsWrong is the wrong JSON of an item's fields.
func itemFieldsWrong() map[string][]string {
	return map[string][]string{
		"title":       wrongTexts("", "  ", strings.Repeat("x", 201), strings.Repeat("语", 201), "a\x00b", "a\nb", "\u0085", strings.Repeat("x", 60_000)),
		"description": wrongTexts(strings.Repeat("x", 10_001), strings.Repeat("😀", 10_001), "a\x00b"),
		"image_url": wrongTexts(append(slices.Clone(hostile), "x.png", "http://a.example/x.png", "ftp://a.example/x", "https://", "/a b",
			"https://user:pass@a.example/x", "data:image/png;base64,AA==", "/"+strings.Repeat("x", 2048))...),
		"price":           append(quoted("1", "", "1 CNY"), "null", "1", "19.90", "true", "[]", "[1990]", "NaN", "", "{}", `{"Amount":1}`),
		"price.amount":    wrongIntegers(1, 1_000_000_000_000),
		"price.currency":  wrongTexts(append(slices.Clone(hostile), "", "CN", "CNYY", "cny", "XYZ", "€", "¥", " CNY", "CNY ")...),
		"stock":           wrongIntegers(0, 10_000_000),
		"per_buyer_limit": wrongIntegers(1, 1000),
		"pay_within":      wrongIntegers(1, 86_400),
		"starts_at":       wrongInstants(),
		"ends_at":         slices.DeleteFunc(wrongInstants(), func(s string) bool { return s == "null" }),
	}
}

// body writes the fields as one object, with one of them replaced.
func body(good map[string]string, name, raw string) string {
	fields := map[string]string{}
	for n, v := range good {
		fields[n] = v
	}
	fields[name] = raw
	price := []string{}
	var parts []string
	for n, v := range fields {
		if inner, ok := strings.CutPrefix(n, "price."); ok {
			price = append(price, fmt.Sprintf("%q:%s", inner, v))
		} else {
			parts = append(parts, fmt.Sprintf("%q:%s", n, v))
		}
	}
	if _, whole := fields["price"]; !whole && len(price) > 0 {
		parts = append(parts, `"price":{`+strings.Join(price, ",")+"}")
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// wrongForms is, by field, what is wrong in the item's form.
func wrongForms() map[string][]string {
	whole := func(low, high int64, more ...string) []string {
		return append(append(slices.Clone(unspaced), "1.5", "1.0", "1e0", "--1", "1 2", "9223372036854775808", "-9223372036854775809",
			strings.Repeat("9", 40), fmt.Sprint(low-1), fmt.Sprint(high+1)), more...)
	}
	moments := append(slices.Clone(unspaced), "tomorrow", "2026-13-01T00:00", "2026-02-30T10:00", "2026-01-02T25:00", "2026-01-02",
		"10:00", "0000-00-00T00:00", "99999-01-01T00:00", "1969-12-31T23:59", "2026-01-02T03:04:05Z trailing")
	return map[string][]string{
		"title":       {"", "  ", strings.Repeat("x", 201), strings.Repeat("语", 201), "a\x00b", "\xff\xfe", "a\x07b"},
		"description": {strings.Repeat("x", 10_001), "a\x00b", "\xff\xfe"},
		"image_url": append(slices.Clone(unspaced), "x.png", "https://", "data:image/png;base64,AA==", "https://user:pass@a.example/x",
			"/"+strings.Repeat("x", 2048)),
		"price": append(slices.Clone(unspaced), "", "-1", "0", "0.001", "1e309", "1e3", "1.2.3", "99999999999999999999", "0.00",
			"10000000000.01", "1..0", "--1"),
		"currency":        append(slices.Clone(unspaced), "", "CN", "CNYY", "XYZ", "¥"),
		"stock":           whole(0, 10_000_000, ""),
		"per_buyer_limit": whole(1, 1000),
		"pay_within":      whole(1, 86_400),
		"starts_at":       moments,
		"ends_at":         append(slices.Clone(moments), "2020-01-01T00:00"),
		"time_zone":       append(slices.Clone(unspaced), "Mars/Phobos", "../zoneinfo/UTC", "/etc/localtime", strings.Repeat("x", 5000)),
	}
}
