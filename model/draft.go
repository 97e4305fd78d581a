package model

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Draft is what an admin says of an item: all of it to publish one, some of it to edit one. A nil field was not given.
type Draft struct {
	Title         *string
	Description   *string
	ImageURL      *string
	Amount        *int64
	Currency      *string
	Stock         *int64
	PerBuyerLimit *int64
	PayWithin     *int64
	StartsAt      *Instant
	EndsAt        *Instant // of zero: no end
}

// Item is the item that d publishes at now, with the defaults of the contract, without an id. knownCurrency reports
// whether a code is in ISO 4217. The error is an *Error of CodeInvalid with a reason for every wrong field.
func (d Draft) Item(now Instant, knownCurrency func(string) bool) (Item, error) {
	bad := d.wrong(knownCurrency)
	for name, given := range map[string]bool{"title": d.Title != nil, "price.amount": d.Amount != nil,
		"price.currency": d.Currency != nil, "stock": d.Stock != nil} {
		if !given {
			bad[name] = "is required"
		}
	}
	item := Item{PerBuyerLimit: 1, PayWithin: DefaultPayWithin, StartsAt: now, Epoch: 1, Version: 1, CreatedAt: now, UpdatedAt: now}
	d.onto(&item)
	if d.Stock != nil {
		item.Stock, item.Available = *d.Stock, *d.Stock
	}
	checkWindow(item, bad)
	if len(bad) > 0 {
		return Item{}, Invalid(bad)
	}
	return item, nil
}

// Edit is the item that d makes of item at now by the gate's clock. It never touches stock: a given stock is refused.
// The version of the result is raised. Errors: CodeInvalid with a reason for every wrong field, [ErrSaleStarted].
func (d Draft) Edit(item Item, now Instant, knownCurrency func(string) bool) (Item, error) {
	bad := d.wrong(knownCurrency)
	if d.Stock != nil {
		bad["stock"] = "is changed by a delta, with the stock call"
	}
	edited := item
	d.onto(&edited)
	checkWindow(edited, bad)
	if len(bad) > 0 {
		return Item{}, Invalid(bad)
	}
	if item.Started(now) && (edited.Price != item.Price || edited.StartsAt != item.StartsAt) {
		return Item{}, ErrSaleStarted
	}
	edited.Version++
	edited.UpdatedAt = now
	return edited, nil
}

// onto writes the given fields, all but the stock.
func (d Draft) onto(item *Item) {
	set(&item.Title, d.Title)
	set(&item.Description, d.Description)
	set(&item.ImageURL, d.ImageURL)
	set(&item.Price.Amount, d.Amount)
	set(&item.Price.Currency, d.Currency)
	set(&item.StartsAt, d.StartsAt)
	set(&item.EndsAt, d.EndsAt)
	if d.PerBuyerLimit != nil {
		item.PerBuyerLimit = int(*d.PerBuyerLimit)
	}
	if d.PayWithin != nil {
		item.PayWithin = int(*d.PayWithin)
	}
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// wrong is the reason for each given field that is wrong by itself, never nil.
func (d Draft) wrong(knownCurrency func(string) bool) map[string]string {
	bad := map[string]string{}
	say := func(name, reason string) {
		if reason != "" {
			bad[name] = reason
		}
	}
	if d.Title != nil {
		say("title", wrongTitle(*d.Title))
	}
	if d.Description != nil {
		say("description", wrongText(*d.Description, MaxDescription))
	}
	if d.ImageURL != nil {
		say("image_url", wrongImageURL(*d.ImageURL))
	}
	if d.Currency != nil && !knownCurrency(*d.Currency) {
		say("price.currency", "must be a currency code of ISO 4217, as CNY")
	}
	for _, f := range []struct {
		name      string
		value     *int64
		low, high int64
	}{
		{"price.amount", d.Amount, 1, MaxAmount},
		{"stock", d.Stock, 0, MaxStock},
		{"per_buyer_limit", d.PerBuyerLimit, 1, MaxPerBuyer},
		{"pay_within", d.PayWithin, 1, MaxPayWithin},
	} {
		if f.value != nil && (*f.value < f.low || *f.value > f.high) {
			say(f.name, fmt.Sprintf("must be %d to %d", f.low, f.high))
		}
	}
	return bad
}

func checkWindow(item Item, bad map[string]string) {
	if item.EndsAt != 0 && item.EndsAt <= item.StartsAt && bad["starts_at"] == "" && bad["ends_at"] == "" {
		bad["ends_at"] = "must be later than starts_at"
	}
}

func wrongTitle(s string) string {
	if strings.TrimSpace(s) == "" {
		return "must not be empty"
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "must not contain control characters"
	}
	return wrongText(s, MaxTitle)
}

func wrongText(s string, most int) string {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return "must be plain text in UTF-8"
	}
	if utf8.RuneCountInString(s) > most {
		return fmt.Sprintf("must have at most %d characters", most)
	}
	return ""
}

// wrongImageURL accepts nothing, a path below /, or an https address.
func wrongImageURL(s string) string {
	const reason = "must be empty, a path that starts with /, or an https address"
	if s == "" {
		return ""
	}
	if len(s) > MaxImageURL {
		return fmt.Sprintf("must have at most %d bytes", MaxImageURL)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return reason
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Opaque != "" {
		return reason
	}
	if u.Scheme == "https" && u.Host != "" {
		return ""
	}
	if u.Scheme == "" && u.Host == "" && strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "//") {
		return ""
	}
	return reason
}
