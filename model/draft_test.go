package model

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

func known(code string) bool { return code == "CNY" || code == "EUR" }

func full() Draft {
	return Draft{Title: new("Tea"), Amount: new(int64(100)), Currency: new("CNY"), Stock: new(int64(5))}
}

// fields is the names of the fields that err finds wrong.
func fields(t *testing.T, err error) []string {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != CodeInvalid {
		t.Fatalf("not invalid: %v", err)
	}
	return slices.Sorted(maps.Keys(e.Fields))
}

func TestADraftBecomesAnItemWithDefaults(t *testing.T) {
	t.Parallel()
	got, err := full().Item(50, known)
	want := Item{Title: "Tea", Price: Money{100, "CNY"}, Stock: 5, Available: 5, PerBuyerLimit: 1, PayWithin: 900,
		StartsAt: 50, Version: 1, Epoch: 1, CreatedAt: 50, UpdatedAt: 50}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = Draft{}.Item(50, known)
	if got := fields(t, err); !slices.Equal(got, []string{"price.amount", "price.currency", "stock", "title"}) {
		t.Errorf("an empty draft: %v", got)
	}
}

func TestADraftNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", MaxTitle)
	for _, test := range []struct {
		field string
		wrong bool
		with  func(*Draft)
	}{
		{"title", true, func(d *Draft) { d.Title = new(" \t") }},
		{"title", true, func(d *Draft) { d.Title = new("a\x00b") }},
		{"title", true, func(d *Draft) { d.Title = new("\xff") }},
		{"title", true, func(d *Draft) { d.Title = new(long + "x") }},
		{"title", false, func(d *Draft) { d.Title = &long }},
		{"description", true, func(d *Draft) { d.Description = new(strings.Repeat("x", MaxDescription+1)) }},
		{"description", false, func(d *Draft) { d.Description = new("two\nlines </script>") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("//evil.example/x.png") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("http://example.com/x.png") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("javascript:alert(1)") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("https:///x") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("https://u:p@example.com/") }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new(`/\example.com`) }},
		{"image_url", true, func(d *Draft) { d.ImageURL = new("/" + strings.Repeat("x", MaxImageURL)) }},
		{"image_url", false, func(d *Draft) { d.ImageURL = new("") }},
		{"image_url", false, func(d *Draft) { d.ImageURL = new("/a/b.png?v=1") }},
		{"image_url", false, func(d *Draft) { d.ImageURL = new("https://example.com/x.png") }},
		{"price.amount", true, func(d *Draft) { d.Amount = new(int64(0)) }},
		{"price.amount", true, func(d *Draft) { d.Amount = new(int64(MaxAmount + 1)) }},
		{"price.amount", false, func(d *Draft) { d.Amount = new(int64(MaxAmount)) }},
		{"price.currency", true, func(d *Draft) { d.Currency = new("cny") }},
		{"stock", true, func(d *Draft) { d.Stock = new(int64(-1)) }},
		{"stock", true, func(d *Draft) { d.Stock = new(int64(MaxStock + 1)) }},
		{"stock", false, func(d *Draft) { d.Stock = new(int64(0)) }},
		{"per_buyer_limit", true, func(d *Draft) { d.PerBuyerLimit = new(int64(1<<32 + 1)) }},
		{"per_buyer_limit", false, func(d *Draft) { d.PerBuyerLimit = new(int64(MaxPerBuyer)) }},
		{"pay_within", true, func(d *Draft) { d.PayWithin = new(int64(0)) }},
		{"pay_within", false, func(d *Draft) { d.PayWithin = new(int64(MaxPayWithin)) }},
		{"ends_at", true, func(d *Draft) { d.StartsAt, d.EndsAt = new(Instant(9)), new(Instant(9)) }},
		{"ends_at", true, func(d *Draft) { d.EndsAt = new(Instant(50)) }},
		{"ends_at", false, func(d *Draft) { d.EndsAt = new(Instant(0)) }},
	} {
		d := full()
		test.with(&d)
		_, err := d.Item(50, known)
		if !test.wrong {
			if err != nil {
				t.Errorf("%s is right: %v", test.field, err)
			}
		} else if got := fields(t, err); !slices.Equal(got, []string{test.field}) {
			t.Errorf("%s is wrong, got %v", test.field, got)
		}
	}
}

func TestAnEditNeverTouchesStockNorAStartedSalesPrice(t *testing.T) {
	t.Parallel()
	item, err := full().Item(50, known)
	if err != nil {
		t.Fatal(err)
	}
	item.Available = 2
	edited, err := Draft{Title: new("New"), EndsAt: new(Instant(99))}.Edit(item, 70, known)
	want := item
	want.Title, want.EndsAt, want.Version, want.UpdatedAt = "New", 99, 2, 70
	if err != nil || edited != want {
		t.Errorf("%+v, %v", edited, err)
	}
	_, err = Draft{Stock: new(int64(6))}.Edit(item, 10, known)
	if got := fields(t, err); !slices.Equal(got, []string{"stock"}) {
		t.Errorf("stock: %v", got)
	}
	for _, d := range []Draft{{Amount: new(int64(101))}, {Currency: new("EUR")}, {StartsAt: new(Instant(60))}} {
		if _, err := d.Edit(item, 50, known); !errors.Is(err, ErrSaleStarted) {
			t.Errorf("at the start: %v", err)
		}
		if _, err := d.Edit(item, 49, known); err != nil {
			t.Errorf("before the start: %v", err)
		}
	}
	if _, err := (Draft{Amount: new(int64(100))}).Edit(item, 70, known); err != nil {
		t.Errorf("the same price: %v", err)
	}
}
