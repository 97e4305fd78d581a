package web_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"seckill/api"
)

func TestSalesThatAreOverAreListedApart(t *testing.T) {
	t.Parallel()
	s := newShop(t, api.ModeGuest)
	over, sold, open := s.item("Old Lamp", 1), s.item("Gone Lamp", 0), s.item("New Lamp", 1)
	_, err := s.desk.Close(context.Background(), over.ID)
	must(t, err)

	r := s.reader()
	a := r.get("/").want(t, http.StatusOK, "New Lamp", "Gone Lamp", `href="/?all"`)
	if strings.Contains(a.body, "Old Lamp") {
		t.Error("a sale that is over stands beside what can be bought")
	}
	if strings.Index(a.body, open.ID.String()) > strings.Index(a.body, sold.ID.String()) {
		t.Error("what can be bought does not come first")
	}
	r.get("/?all").want(t, http.StatusOK, "New Lamp", "Gone Lamp", "Old Lamp", `href="/"`)
}
