package api

import (
	"encoding/json"
	"errors"
	"testing"

	"seckill/model"
)

// FuzzDecode holds the decoder against encoding/json: whatever it accepts is one JSON object, and the value that it
// takes for a field is the one that stands there under exactly that name.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{}`, `{"n":1,"s":"x","t":"2026-01-02T03:04:05.6789+08:00","o":{"n":-7}}`, `{"N":1}`, `{"n":1,"n":2}`,
		`{"n":1.0}`, `{"n":1e2}`, `{"n":-0}`, `{"s":"\ud800"}`, `{"s":null,"t":null}`, `{"o":[]}`, `[]`, `{}x`, `{"a":{"n":1,"n":1}}`,
		"{\"s\":\"\xff\"}", `{"\u006e":5}`, `{"n":9223372036854775808}`, ` {"n" : 3 } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkDecode(t, body) })
}

func checkDecode(t *testing.T, body []byte) {
	t.Helper()
	var n, inner *int64
	var s *string
	var at *model.Instant
	wrong := map[string]string{}
	err := decode(body, []field{integer("n", &n), text("s", &s), instant("t", &at, true),
		{name: "o", object: []field{integer("n", &inner)}}}, wrong)
	var sent map[string]json.RawMessage
	bad := json.Unmarshal(body, &sent)
	if err != nil {
		if !errors.Is(err, &model.Error{Code: model.CodeMalformed}) {
			t.Fatalf("error %v", err)
		}
		return
	}
	if bad != nil || sent == nil {
		t.Fatalf("accepted %q: %v", body, bad)
	}
	if n != nil {
		var want int64
		if err := json.Unmarshal(sent["n"], &want); wrong["n"] == "" && (err != nil || want != *n) {
			t.Fatalf("read n as %d from %q", *n, body)
		}
	}
	if s != nil {
		var want string
		if err := json.Unmarshal(sent["s"], &want); wrong["s"] == "" && (err != nil || want != *s) {
			t.Fatalf("read s as %q from %q", *s, body)
		}
	}
	for name, was := range map[string]bool{"n": n != nil, "s": s != nil, "t": at != nil} {
		if _, given := sent[name]; given && !was && wrong[name] == "" || was && !given {
			t.Fatalf("field %s of %q: given %v, taken %v, wrong %q", name, body, given, was, wrong[name])
		}
	}
}
