package web

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/bojanz/currency"

	"seckill/model"
)

// priceForm is an amount as a person writes it: digits, perhaps in groups of three, perhaps a fraction.
var priceForm = regexp.MustCompile(`^(\d{1,15}|[1-9]\d{0,2}(?:([ ',.])\d{3})+)(?:([.,])(\d+))?$`)

// spaces are what people put between groups, each with its plain form.
var spaces = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "’", "'")

// parsePrice reads "19.90", "19,90", "1 299.00" or "1,299.00" as minor units of the currency. It does not guess: a
// comma or a point before three digits and nothing else ("1,299") may be either, and is refused where the currency has
// no third digit. The refusal is the key of a text.
func parsePrice(typed, code string) (amount int64, refusal string) {
	text := strings.TrimSpace(spaces.Replace(typed))
	if text == "" {
		return 0, "form.required"
	}
	parts := priceForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, "form.price"
	}
	whole, group, point, fraction := parts[1], parts[2], parts[3], parts[4]
	plain := strings.ReplaceAll(whole, group, "")
	if strings.Trim(plain, "0123456789") != "" || group != "" && group == point {
		return 0, "form.price" // several signs between groups
	}
	amount, refusal = minorUnits(plain, fraction, code)
	if refusal == "form.price_decimals" && group == "" && len(fraction) == 3 && whole[0] != '0' {
		refusal = "form.price_doubt"
	}
	return amount, refusal
}

func minorUnits(whole, fraction, code string) (amount int64, refusal string) {
	digits, ok := currency.GetDigits(code)
	if !ok {
		digits = 2 // the currency has its own refusal
	}
	if len(fraction) > int(digits) {
		return 0, "form.price_decimals"
	}
	amount, err := strconv.ParseInt(whole+fraction+strings.Repeat("0", int(digits)-len(fraction)), 10, 64)
	if err != nil || amount < 1 || amount > model.MaxAmount {
		return 0, "form.price_range"
	}
	return amount, ""
}

// writePrice is the decimal text of an amount, as parsePrice reads it.
func writePrice(m model.Money) string {
	amount, err := currency.NewAmountFromInt64(m.Amount, m.Currency)
	if err != nil {
		return strconv.FormatInt(m.Amount, 10)
	}
	return amount.Number()
}
