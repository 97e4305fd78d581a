package api

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/model"
	"seckill/model/store"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// query reads the parameters of a request and collects the reasons of the wrong ones.
type query struct {
	values url.Values
	wrong  map[string]string
}

// newQuery splits the request's query. A value that can not be unescaped is kept as it is, for the parameter to refuse:
// nobody is refused for an unknown one.
func newQuery(c *gin.Context) *query {
	q := &query{values: url.Values{}, wrong: map[string]string{}}
	for pair := range strings.SplitSeq(c.Request.URL.RawQuery, "&") {
		name, value, _ := strings.Cut(pair, "=")
		q.values.Add(unescape(name), unescape(value))
	}
	return q
}

func unescape(s string) string {
	if plain, err := url.QueryUnescape(s); err == nil {
		return plain
	}
	return s
}

// err is model.Invalid if a parameter was wrong.
func (q *query) err() error {
	if len(q.wrong) > 0 {
		return model.Invalid(q.wrong)
	}
	return nil
}

// text is a parameter's value, and whether it was given, once.
func (q *query) text(name string) (string, bool) {
	values := q.values[name]
	if len(values) > 1 {
		q.wrong[name] = "is given more than once"
	}
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// page is the limit and the cursor of a list.
func (q *query) page() (after string, limit int) {
	limit = defaultLimit
	if s, ok := q.text("limit"); ok {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n < 1 || n > maxLimit || s[0] == '0' {
			q.wrong["limit"] = "must be 1 to 200"
		}
		limit = int(n)
	}
	after, _ = q.text("after")
	return after, limit
}

func (q *query) id(name string) model.ID {
	s, ok := q.text(name)
	if !ok {
		return 0
	}
	id, err := model.ParseID(s)
	if err != nil {
		q.wrong[name] = "must be an id"
	}
	return id
}

// instant is a bound of a search, so any time will do; one before 1970 is the first instant there is.
func (q *query) instant(name string) model.Instant {
	s, ok := q.text(name)
	if !ok {
		return 0
	}
	t, ok := parseTime(s)
	if !ok {
		q.wrong[name] = wrongInstant
	}
	return max(1, model.InstantOf(t))
}

// orders is the filter of the admins' orders.
func (q *query) orders() store.OrderFilter {
	f := store.OrderFilter{Item: q.id("item"), From: q.instant("from"), To: q.instant("to")}
	if s, ok := q.text("buyer"); ok {
		if f.Buyer = model.Buyer(s); !f.Buyer.Valid() {
			q.wrong["buyer"] = "must have 1 to 128 bytes"
		}
	}
	if s, ok := q.text("status"); ok {
		switch f.Status = model.OrderStatus(s); f.Status {
		case model.OrderPending, model.OrderPaid, model.OrderCancelled:
		default:
			q.wrong["status"] = "must be pending, paid or cancelled"
		}
	}
	if s, ok := q.text("no"); ok {
		if f.No = s; s == "" {
			q.wrong["no"] = "must not be empty"
		}
	}
	return f
}
