package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"

	"seckill/model"
)

// maxBody is the most bytes of a request's body.
const maxBody = 64 << 10

// field is one field of a body that a call reads: its name, and how its value is taken. set returns why it is wrong,
// empty if it is right. The value is only valid during set.
type field struct {
	name string
	set  func(jsontext.Value) (reason string)
	// object has the fields of a field that is itself an object; then set is nil.
	object []field
}

// bind reads the request's body into the fields: a JSON object with exactly these names, each at most once; others are
// ignored, except one that differs from a known name by letter case only. wrong has the reason for every wrong field,
// by its name as it was sent; it is never nil. An empty body is fine unless required.
func bind(c *gin.Context, required bool, fields ...field) (wrong map[string]string, err error) {
	wrong = map[string]string{}
	body, err := readBody(c)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 && !required {
		return wrong, nil
	}
	if !isJSON(c.Request.Header.Get("Content-Type")) {
		return nil, &model.Error{Code: model.CodeUnsupportedType, Message: "The body must be application/json."}
	}
	return wrong, decode(body, fields, wrong)
}

// decode reads a whole body; see bind.
func decode(body []byte, fields []field, wrong map[string]string) error {
	d := jsontext.NewDecoder(bytes.NewReader(body), jsontext.AllowDuplicateNames(true))
	if d.PeekKind() != '{' {
		return malformed("The body must be a JSON object.")
	}
	if err := decodeObject(d, "", fields, wrong); err != nil {
		return malformed("The body is not JSON.")
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return malformed("There is something after the JSON object.")
	}
	return nil
}

// decodeObject reads the object that d stands at; prefix is what its fields' names begin with.
func decodeObject(d *jsontext.Decoder, prefix string, fields []field, wrong map[string]string) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := make(map[string]bool, len(fields))
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := token.String()
		f, reason := match(fields, prefix, key, seen)
		if reason != "" {
			wrong[prefix+key] = reason
		}
		if err := decodeField(d, prefix, f, wrong); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// match finds the field of a key, nil where the value is to be skipped, and why the key is wrong.
func match(fields []field, prefix, key string, seen map[string]bool) (*field, string) {
	for n := range fields {
		f := &fields[n]
		switch {
		case f.name == key && seen[key]:
			return nil, "is given more than once"
		case f.name == key:
			seen[key] = true
			return f, ""
		case strings.EqualFold(f.name, key):
			return nil, "is spelled " + prefix + f.name
		}
	}
	return nil, ""
}

// decodeField reads the value that d stands at into f.
func decodeField(d *jsontext.Decoder, prefix string, f *field, wrong map[string]string) error {
	switch {
	case f == nil:
		return d.SkipValue()
	case f.object == nil:
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if reason := f.set(value); reason != "" {
			wrong[prefix+f.name] = reason
		}
		return nil
	case d.PeekKind() != '{':
		wrong[prefix+f.name] = "must be an object"
		return d.SkipValue()
	}
	return decodeObject(d, prefix+f.name+".", f.object, wrong)
}

// readBody reads at most maxBody bytes.
func readBody(c *gin.Context) ([]byte, error) {
	r := c.Request
	if r.ContentLength == 0 || r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > maxBody {
		return nil, errTooLarge()
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, errTooLarge()
	}
	if err != nil {
		return nil, malformed("The body ended early.")
	}
	return body, nil
}

func isJSON(contentType string) bool {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" {
		return false
	}
	charset, given := params["charset"]
	return !given || strings.EqualFold(charset, "utf-8")
}

func malformed(message string) error {
	return &model.Error{Code: model.CodeMalformed, Message: message}
}

func errTooLarge() error {
	return &model.Error{Code: model.CodeTooLarge, Message: "The body is larger than 64 KiB."}
}

// integer is a field that is a JSON integer: no fraction, no exponent.
func integer(name string, to **int64) field {
	return field{name: name, set: func(v jsontext.Value) string {
		if v.Kind() != '0' || bytes.ContainsAny(v, ".eE") {
			return "must be a whole number"
		}
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return "is out of range"
		}
		*to = &n
		return ""
	}}
}

// text is a field that is a string.
func text(name string, to **string) field {
	return field{name: name, set: func(v jsontext.Value) string {
		s, ok := unquote(v)
		if !ok {
			return "must be text"
		}
		*to = &s
		return ""
	}}
}

// instant is a field that is an instant, or null if it may have none.
func instant(name string, to **model.Instant, orNone bool) field {
	return field{name: name, set: func(v jsontext.Value) string {
		if v.Kind() == 'n' && orNone {
			*to = new(model.Instant)
			return ""
		}
		s, ok := unquote(v)
		if !ok {
			return wrongInstant
		}
		i, reason := parseInstant(s)
		if reason == "" {
			*to = &i
		}
		return reason
	}}
}

// orZero is what p points to, zero where it points to nothing.
func orZero[T any](p *T) T {
	if p == nil {
		return *new(T)
	}
	return *p
}

func unquote(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

// instantForm is what of RFC 3339 time.Parse is lenient about: digits, the decimal point, the offset's bounds.
var instantForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

const wrongInstant = "must be a time like 2026-01-02T03:04:05Z"

// parseTime reads RFC 3339, any offset.
func parseTime(s string) (time.Time, bool) {
	s = strings.ToUpper(s) // its T and Z may be small
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && instantForm.MatchString(s)
}

// parseInstant reads RFC 3339, any offset, of the years 1970 to 9999 in UTC. Finer than milliseconds is cut.
func parseInstant(s string) (i model.Instant, reason string) {
	t, ok := parseTime(s)
	if !ok {
		return 0, wrongInstant
	}
	i = model.InstantOf(t)
	if i <= 0 || t.UTC().Year() > 9999 {
		return 0, "must be in the years 1970 to 9999"
	}
	return i, ""
}
