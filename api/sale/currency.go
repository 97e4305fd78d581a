package sale

import "github.com/bojanz/currency"

// KnownCurrency reports whether code is a currency of ISO 4217, as CNY.
func KnownCurrency(code string) bool { return code != "" && currency.IsValid(code) }
