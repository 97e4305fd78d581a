package web

import (
	"strconv"
	"strings"
	"time"

	"github.com/bojanz/currency"
	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/model"
)

// itemFields are the fields of the item's form, in the order in which it shows them.
var itemFields = [...]string{"title", "description", "image_url", "price", "currency", "stock", "per_buyer_limit",
	"pay_within", "starts_at", "ends_at", "time_zone"}

// form is what was typed and what is wrong with it, by field.
type form struct {
	*texts
	Values map[string]string
	Errors map[string]string
	// Present is what a field is now, where that is not what was typed: somebody else has changed it.
	Present map[string]string
	// Fixed are the fields that can not be changed any more.
	Fixed map[string]bool
}

// typedForm is the form as the request has it.
func typedForm(c *gin.Context, t *texts, names ...string) form {
	f := form{texts: t, Values: map[string]string{}, Errors: map[string]string{}}
	for _, name := range names {
		f.Values[name] = strings.ReplaceAll(c.PostForm(name), "\r\n", "\n")
	}
	return f
}

// itemForm is the form of an item as it is, in a zone.
func itemForm(t *texts, item sale.AdminItemView, zone *time.Location) form {
	return form{texts: t, Errors: map[string]string{}, Values: map[string]string{
		"title": item.Title, "description": item.Description, "image_url": item.ImageURL,
		"price": writePrice(item.Price), "currency": item.Price.Currency,
		"per_buyer_limit": strconv.Itoa(item.PerBuyerLimit), "pay_within": strconv.Itoa(item.PayWithin),
		"starts_at": writeLocal(item.StartsAt, zone), "ends_at": writeLocal(item.EndsAt, zone),
		"time_zone": zone.String(), "version": strconv.FormatInt(item.Version, 10)}}
}

// field is one field as a template shows it.
type field struct {
	Name, Label, Hint string
	Value, Error      string
	Present           string
	Fixed             bool
	First             bool // of the wrong ones: it gets the focus
}

// Field is the field of this name.
func (f form) Field(name string) field {
	v := field{Name: name, Label: f.T("field." + name), Value: f.Values[name], Error: f.Errors[name],
		Present: f.Present[name], Fixed: f.Fixed[name], First: name == f.firstWrong()}
	switch hint := "field." + name + ".hint"; {
	case v.Fixed:
		v.Hint = f.T("field.fixed")
	case f.has(hint):
		v.Hint = f.T(hint)
	}
	return v
}

func (f form) firstWrong() string {
	for _, name := range f.Wrong() {
		return name
	}
	return ""
}

// Wrong is the names of the wrong fields, in the form's order.
func (f form) Wrong() []string {
	var wrong []string
	for _, name := range append(itemFields[:], "delta", "reason") {
		if f.Errors[name] != "" {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

// refuse notes the reasons that package model has, under the form's names.
func (f form) refuse(fields map[string]string) {
	for name, reason := range fields {
		name = strings.TrimPrefix(name, "price.")
		if name == "amount" {
			name = "price"
		}
		if f.Errors[name] == "" {
			f.Errors[name] = f.Reason(reason)
		}
	}
}

// draft reads the form; what can not be read goes into Errors. present is the item that is edited, nil for a new one: a
// time that still shows what the item has is left out, so that no second of it is lost.
func (f form) draft(present *sale.AdminItemView) model.Draft {
	code := strings.ToUpper(strings.TrimSpace(f.Values["currency"]))
	title, description, image := f.Values["title"], f.Values["description"], strings.TrimSpace(f.Values["image_url"])
	d := model.Draft{Title: &title, Description: &description, ImageURL: &image, Currency: &code,
		PerBuyerLimit: f.whole("per_buyer_limit"), PayWithin: f.whole("pay_within")}
	if amount, refusal := parsePrice(f.Values["price"], code); refusal != "" {
		f.Errors["price"] = f.T(refusal, "Currency", code)
	} else {
		d.Amount = &amount
	}
	if present == nil {
		d.Stock = f.whole("stock")
	}
	zone, ok := loadZone(f.Values["time_zone"])
	if !ok {
		f.Errors["time_zone"] = f.T("form.zone")
		return d
	}
	var startsAt, endsAt model.Instant
	if present != nil {
		startsAt, endsAt = present.StartsAt, present.EndsAt
	}
	d.StartsAt, d.EndsAt = f.instant("starts_at", zone, startsAt), f.instant("ends_at", zone, endsAt)
	if d.StartsAt != nil && *d.StartsAt == 0 {
		d.StartsAt = nil // a new item starts when it is published
		if present != nil {
			f.Errors["starts_at"] = f.T("form.required")
		}
	}
	return d
}

// whole reads a whole number, nil for none.
func (f form) whole(name string) *int64 {
	typed := strings.TrimSpace(f.Values[name])
	if typed == "" {
		return nil
	}
	n, err := strconv.ParseInt(typed, 10, 64)
	if err != nil {
		f.Errors[name] = f.T("form.whole_number")
		return nil
	}
	return &n
}

// instant reads a time, nil for one that still shows what the item has.
func (f form) instant(name string, zone *time.Location, present model.Instant) *model.Instant {
	at, refusal := parseLocal(f.Values[name], zone)
	if refusal != "" {
		f.Errors[name] = f.T(refusal)
		return nil
	}
	if present != 0 && writeLocal(at, zone) == writeLocal(present, zone) {
		return nil
	}
	return &at
}

// check adds what the rules of package model say of a draft, so that one answer names every wrong field.
func (f form) check(d model.Draft, present *sale.AdminItemView, now model.Instant) {
	if present != nil {
		none := int64(0)
		d.Stock, now = &none, present.StartsAt
		if d.EndsAt == nil && d.StartsAt != nil {
			d.EndsAt = &present.EndsAt
		}
	}
	if _, err := d.Item(now, currency.IsValid); err != nil {
		f.refuse(fieldsOf(err))
	}
}

// compare notes where the present item is not what was typed.
func (f *form) compare(item sale.AdminItemView) {
	zone, ok := loadZone(f.Values["time_zone"])
	if !ok {
		zone = time.UTC
	}
	now := itemForm(f.texts, item, zone)
	f.Present = map[string]string{}
	for _, name := range itemFields {
		shown, ok := now.Values[name]
		switch {
		case !ok || shown == f.Values[name]:
		case shown == "":
			f.Present[name] = f.T("field.present_empty")
		default:
			f.Present[name] = f.T("field.present", "Value", shown)
		}
	}
	f.Values["version"] = now.Values["version"]
}
