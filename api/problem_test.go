package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
)

func TestProblemShowsRefusalsAndHidesTheRest(t *testing.T) {
	t.Parallel()
	secret := errors.New("near SELECT: no such table")
	for _, c := range []struct {
		err    error
		status int
		code   string
		fields string
	}{
		{model.ErrNotFound, 404, "not_found", ""},
		{fmt.Errorf("read item: %w", model.ErrNotFound), 404, "not_found", ""},
		{fmt.Errorf("%w: %w", model.ErrUnavailable, secret), 503, "unavailable", ""},
		{model.ErrQueueFull, 503, "queue_full", ""},
		{model.Invalid(map[string]string{"x": "is wrong"}), 422, "invalid", " errors"},
		{model.AlreadyBought(model.Order{No: "1"}), 409, "already_bought", " order"},
		{secret, 500, "internal", ""},
	} {
		w := httptest.NewRecorder()
		g, _ := gin.CreateTestContext(w)
		g.Request = httptest.NewRequest("GET", "/", nil)
		api.RequestID(g)
		api.Problem(g, slog.New(slog.DiscardHandler), c.err)
		var p map[string]any
		must(t, json.Unmarshal(w.Body.Bytes(), &p))
		want := strings.Fields("code detail" + c.fields + " request_id status title type")
		if keys(p) != strings.Join(want, " ") || p["type"] != "about:blank" || p["title"] != http.StatusText(c.status) ||
			p["code"] != c.code || p["status"] != float64(c.status) || p["request_id"] != api.GetRequestID(g) {
			t.Errorf("%v is answered %s", c.err, w.Body)
		}
		if w.Code != c.status || api.Status(c.err) != c.status || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%v is answered with %d %v", c.err, w.Code, w.Header())
		}
		if (w.Header().Get("Retry-After") != "") != (c.status == 503) || !g.IsAborted() {
			t.Errorf("%v: headers %v, aborted %v", c.err, w.Header(), g.IsAborted())
		}
		if strings.Contains(w.Body.String(), "SELECT") {
			t.Errorf("%v is shown to everybody", c.err)
		}
	}
}
