package sale

import "github.com/bojanz/currency"

// KnownCurrency reports whether code is a currency of ISO 4217, as CNY.
func KnownCurrency(code string) bool { return code != "" && currency.IsValid(code) }

// CurrencyDigits is how many digits of a currency stand behind the decimal point: 2 for CNY, 0 for JPY; 0 for an
// unknown one.
func CurrencyDigits(code string) int {
	digits, _ := currency.GetDigits(code)
	return int(digits)
}
