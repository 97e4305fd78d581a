package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const items = "/api/v1/admin/items"

func TestPublish(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	a := s.call(t, "admin", "POST", items, `{"id":"7","status":"x","available":9,"version":8,"buyer":"b","phase":"open",`+lamp[1:])
	a.want(t, http.StatusCreated, "")
	if got, want := keys(a.json), "available closed_at created_at description ends_at id image_url paid pause"+
		"d pay_within pending per_buyer_limit phase price queued set_aside starts_at stock title updated_at version"; got != want {
		t.Errorf("item has %s\nwant %s", got, want)
	}
	if a.text("id") == "7" || a.json["available"] != 2.0 || a.json["version"] == 8.0 || a.text("starts_at") != "2026-05-01T12:00:00.000Z" {
		t.Errorf("published %s", a.Body)
	}
	least := s.call(t, "admin", "POST", items, `{"title":"Least","price":{"amount":1,"currency":"JPY"},"stock":0,"ends_at":null}`)
	if least.json["per_buyer_limit"] != 1.0 || least.json["pay_within"] != 900.0 || least.json["ends_at"] != nil ||
		least.text("starts_at") != "2026-05-01T12:00:00.000Z" {
		t.Errorf("defaults %s", least.Body)
	}
}

func TestPublishBodies(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	deep := strings.Repeat("[", 60_000)
	for _, c := range []struct {
		body, contentType string
		status            int
		code              string
	}{
		{"", "", 415, "unsupported_type"},
		{"", "application/json", 400, "malformed"},
		{lamp, "text/plain", 415, "unsupported_type"},
		{lamp, "application/jsonx", 415, "unsupported_type"},
		{lamp, "application/json; charset=latin1", 415, "unsupported_type"},
		{lamp, "Application/JSON; Charset=UTF-8", 201, ""},
		{"[]", "application/json", 400, "malformed"},
		{"null", "application/json", 400, "malformed"},
		{"{", "application/json", 400, "malformed"},
		{lamp + "x", "application/json", 400, "malformed"},
		{lamp + lamp, "application/json", 400, "malformed"},
		{lamp + " \n", "application/json", 201, ""},
		{"{\"title\":\"\xff\"}", "application/json", 400, "malformed"},
		{`{"title":"\ud800"}`, "application/json", 400, "malformed"},
		{`{"title":NaN}`, "application/json", 400, "malformed"},
		{`{"x":` + deep + `}`, "application/json", 400, "malformed"},
		{`{"x":"` + strings.Repeat("x", 64<<10) + `"}`, "application/json", 413, "too_large"},
	} {
		t.Run(fmt.Sprintf("%.20q", c.body), func(t *testing.T) {
			s.call(t, "admin", "POST", items, c.body, "Content-Type", c.contentType).want(t, c.status, c.code)
		})
	}
}

// wrongValues has values that are wrong for every field of a kind.
var wrongValues = map[string][]string{
	"integer": {`null`, `true`, `[]`, `{}`, `"1"`, `""`, `1.0`, `1e0`, `1.5`, `1e999`, `-9223372036854775809`, `9223372036854775808`,
		`99999999999999`, `-99999999999999`},
	"text":     {`null`, `true`, `[]`, `{}`, `1`, `"\u0000"`, `"` + strings.Repeat("é", 10_001) + `"`},
	"currency": {`""`, `"cny"`, `"XXQ"`, `"CNY "`, `"' OR 1=1 --"`, `"</script>"`},
	"instant": {`true`, `[]`, `{}`, `1`, `""`, `"now"`, `"2026-05-01"`, `"2026-05-01T12:00:00"`, `"2026-05-01 12:00:00Z"`,
		`"2026-05-01T12:00:00,5Z"`, `"2026-02-30T00:00:00Z"`, `"1969-12-31T23:59:59Z"`, `"9999-12-31T23:59:59-01:00"`,
		`"+2026-05-01T12:00:00Z"`, `"2026-05-01T1:00:00Z"`,
		`"2026-05-01T12:00:00+24:00"`, `"2026-05-01T23:59:60Z"`},
	"url":    {`"//x/y"`, `"http://x/y.png"`, `"javascript:alert(1)"`, `"https://"`, `"a.png"`, `"/a b"`},
	"object": {`null`, `true`, `[]`, `1`, `"x"`},
}

// TestEveryFieldRefusesWrongValues sends each wrong value in each field of each call, alone and beside another wrong
// field. Each is answered by the field's name, and nothing is stored.
func TestEveryFieldRefusesWrongValues(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.publish(t, lamp)
	kinds := map[string][]string{"title": {"text"}, "description": {"text"}, "image_url": {"text", "url"}, "price": {"object"},
		"price.amount": {"integer"}, "price.currency": {"text", "currency"}, "stock": {"integer"}, "per_buyer_limit": {"integer"},
		"pay_within": {"integer"}, "starts_at": {"instant"}, "ends_at": {"instant"}, "version": {"integer"},
		"delta": {"integer"}, "reason": {"text"}, "quantity": {"integer"}}
	before := s.call(t, "admin", "GET", items, "").Body.String()
	for _, r := range routesWithBodies() {
		who, path := "buyer", strings.Replace(r.Path, ":id", id, 1)
		if r.Admin {
			who = "admin"
		}
		for _, name := range r.Body {
			for _, kind := range kinds[name] {
				for _, value := range wrongValues[kind] {
					if name == "version" && strings.Contains(value, "99999999999999") || name == "reason" && strings.Contains(value, `\u0000`) {
						continue // right by itself
					}
					a := s.call(t, who, r.Method, path, bodyWith(r.Path, name, value))
					a.wantFields(t, name)
				}
			}
			a := s.call(t, who, r.Method, path, bodyWith(r.Path, strings.ToUpper(name), "1"))
			if a.want(t, 422, "invalid"); !strings.Contains(a.Body.String(), name) {
				t.Errorf("%s: the right spelling of %s is not told: %s", path, name, a.Body)
			}
		}
	}
	if after := s.call(t, "admin", "GET", items, "").Body.String(); after != before {
		t.Errorf("stored something:\n%s\n%s", before, after)
	}
}

func TestAllWrongFieldsAreTold(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.call(t, "admin", "POST", items, `{}`).wantFields(t, "title", "stock", "price.amount", "price.currency")
	s.call(t, "admin", "POST", items, `{"title":1,"price":{"amount":"x","currency":"XXQ"},"stock":-1,"Pay_within":1,"starts_at":null}`).
		wantFields(t, "title", "price.amount", "price.currency", "stock", "Pay_within", "starts_at")
	s.call(t, "admin", "POST", items, `{"title":"x","price":7}`).wantFields(t, "price", "stock")
	s.call(t, "admin", "POST", items, strings.Replace(lamp, "13:00", "11:00", 1)).wantFields(t, "ends_at")
	s.call(t, "admin", "PUT", items+"/"+s.publish(t, lamp), `{"title":"","pay_within":null}`).wantFields(t, "version", "title", "pay_within")
	s.call(t, "admin", "POST", items+"/1/stock", `{"delta":null,"reason":1}`).wantFields(t, "delta", "reason")
}

func TestEdit(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.publish(t, lamp)
	at := items + "/" + id
	first := s.call(t, "admin", "GET", at, "")
	version := first.json["version"]
	a := s.call(t, "admin", "PUT", at, fmt.Sprintf(`{"version":%v,"title":"Lamp 2","price":{}}`, version))
	a.want(t, 200, "")
	if a.text("title") != "Lamp 2" || a.json["stock"] != 2.0 {
		t.Errorf("edited %s", a.Body)
	}
	stale := s.call(t, "admin", "PUT", at, fmt.Sprintf(`{"version":%v,"title":"Lamp 3"}`, version))
	stale.want(t, 409, "changed")
	if first.text("server_time") != "2026-05-01T12:00:00.000Z" {
		t.Errorf("item without the time: %s", first.Body)
	}
	if item, _ := stale.json["item"].(map[string]any); keys(item) != keys(a.json) || item["title"] != "Lamp 2" {
		t.Errorf("stale edit %s", stale.Body)
	}
	s.call(t, "admin", "PUT", at, fmt.Sprintf(`{"version":%v,"stock":1,"title":""}`, version)).wantFields(t, "stock", "title")
	s.call(t, "admin", "PUT", items+"/42", `{"version":1,"title":""}`).wantFields(t, "title")
	version = a.json["version"]
	s.call(t, "admin", "PUT", at, fmt.Sprintf(`{"version":%v,"price":{"amount":1}}`, version)).want(t, 409, "sale_started")
	s.call(t, "admin", "PUT", at, fmt.Sprintf(`{"version":%v,"stock":1}`, version)).wantFields(t, "stock")

	stock := s.call(t, "admin", "POST", at+"/stock", `{"delta":3,"reason":"found"}`)
	if stock.json["stock"] != 5.0 || stock.json["available"] != 5.0 {
		t.Errorf("stock %s", stock.Body)
	}
	s.call(t, "admin", "POST", at+"/stock", `{"delta":-6}`).want(t, 409, "stock_below_live")
	ledger := s.call(t, "admin", "GET", at+"/ledger", "")
	if keys(ledger.json) != "available paid pending queued stock" || ledger.json["stock"] != 5.0 {
		t.Errorf("ledger %s", ledger.Body)
	}
}

func TestOrdersOfEverybody(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	id := s.publish(t, strings.Replace(lamp, "Lamp", `=1+1,\"x\"`, 1))
	for _, buyer := range []string{"@ann", "bob"} {
		s.call(t, buyer, "POST", "/api/v1/items/"+id+"/buy", "").want(t, 202, "")
	}
	s.sell(t, id)
	all := s.call(t, "admin", "GET", "/api/v1/admin/orders?status=pending&item="+id, "")
	orders, _ := all.json["orders"].([]any)
	if len(orders) != 2 || orders[0].(map[string]any)["buyer"] != "bob" {
		t.Fatalf("orders %s", all.Body)
	}
	no := orders[1].(map[string]any)["no"].(string)

	csv := s.call(t, "admin", "GET", "/api/v1/admin/orders.csv?buyer=%40ann", "")
	csv.want(t, 200, "")
	lines := strings.Split(csv.Body.String(), "\r\n")
	if len(lines) != 3 || lines[0] != "\ufeffno,item_id,title,quantity,amount,currency,status,created_at,expires_at,paid_at,"+
		"cancelled_at,cancel_reason,refund,buyer" || lines[2] != "" {
		t.Fatalf("export %q", csv.Body)
	}
	row := fmt.Sprintf(`%s,%s,"'=1+1,""x""",1,1999,CNY,pending,`, no, id)
	if !strings.HasPrefix(lines[1], row) || !strings.HasSuffix(lines[1], ",,,,,'@ann") {
		t.Errorf("row %q, want it to begin with %q", lines[1], row)
	}
	s.call(t, "admin", "GET", "/api/v1/admin/orders.csv?status=x", "").wantFields(t, "status")
	if !slices.Contains(csv.Header()["Content-Type"], "text/csv; charset=utf-8") {
		t.Errorf("headers %v", csv.Header())
	}
}
