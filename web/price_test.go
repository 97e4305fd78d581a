package web

import (
	"testing"

	"seckill/model"
)

func TestParsePrice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, currency string
		amount          int64
		refusal         string
	}{
		{"19.90", "CNY", 1990, ""},
		{"19,90", "CNY", 1990, ""},
		{" 19.9 ", "CNY", 1990, ""},
		{"1 299.00", "CNY", 129900, ""},
		{"1\u202f299,00", "EUR", 129900, ""},
		{"1,299.00", "USD", 129900, ""},
		{"1.299,00", "EUR", 129900, ""},
		{"1'299.00", "CHF", 129900, ""},
		{"1’299", "CHF", 129900, ""},
		{"1,299,000", "USD", 129900000, ""},
		{"1299", "JPY", 1299, ""},
		{"1.250", "KWD", 1250, ""},
		{"12,345", "KWD", 12345, ""},
		{"12.34", "KWD", 12340, ""},
		{"0.01", "CNY", 1, ""},
		{"10000000000.00", "CNY", model.MaxAmount, ""},
		{"10000000000.01", "CNY", 0, "form.price_range"},
		{"999999999999999.99", "CNY", 0, "form.price_range"},
		{"99999999999999999999", "CNY", 0, "form.price"},
		{"", "CNY", 0, "form.required"},
		{"  ", "CNY", 0, "form.required"},
		{"0", "CNY", 0, "form.price_range"},
		{"0.00", "CNY", 0, "form.price_range"},
		{"0.001", "CNY", 0, "form.price_decimals"},
		{"1,299", "USD", 0, "form.price_doubt"},
		{"1.299", "EUR", 0, "form.price_doubt"},
		{"1299.5", "JPY", 0, "form.price_decimals"},
		{"1,299,00", "USD", 0, "form.price"},
		{"1.299.00", "EUR", 0, "form.price"},
		{"1 299,000.00", "EUR", 0, "form.price"},
		{"12 99", "EUR", 0, "form.price"},
		{"-1", "CNY", 0, "form.price"},
		{"+1", "CNY", 0, "form.price"},
		{"1e3", "CNY", 0, "form.price"},
		{"NaN", "CNY", 0, "form.price"},
		{"¥5", "CNY", 0, "form.price"},
		{".5", "CNY", 0, "form.price"},
		{"5.", "CNY", 0, "form.price"},
		{"１９", "CNY", 0, "form.price"},
	} {
		amount, refusal := parsePrice(c.typed, c.currency)
		if refusal != c.refusal || refusal == "" && amount != c.amount {
			t.Errorf("parsePrice(%q, %s) = %d, %q; want %d, %q", c.typed, c.currency, amount, refusal, c.amount, c.refusal)
		}
	}
}

func TestWrittenPriceIsRead(t *testing.T) {
	t.Parallel()
	for _, m := range []model.Money{{Amount: 1, Currency: "CNY"}, {Amount: 129900, Currency: "EUR"},
		{Amount: 1299, Currency: "JPY"}, {Amount: 5, Currency: "JPY"}, {Amount: 1250, Currency: "KWD"},
		{Amount: model.MaxAmount, Currency: "KWD"}} {
		if amount, refusal := parsePrice(writePrice(m), m.Currency); amount != m.Amount || refusal != "" {
			t.Errorf("%v is written %q, and read as %d, %q", m, writePrice(m), amount, refusal)
		}
	}
}
