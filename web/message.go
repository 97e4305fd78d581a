package web

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"strconv"

	"github.com/bojanz/currency"
	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"

	"seckill/model"
)

// scriptKeys is how the keys of the texts that scripts show begin.
var scriptKeys = regexp.MustCompile(`^(live|phase)\.`)

// catalogue is every text that a person sees, in every language there is a file for.
type catalogue struct {
	bundle  *i18n.Bundle
	matcher language.Matcher
	texts   []*texts // one a language, in the matcher's order
}

// newCatalogue reads messages/*.json. English is the language of whoever asks for none that is there.
func newCatalogue(files fs.FS) (*catalogue, error) {
	c := &catalogue{bundle: i18n.NewBundle(language.English)}
	c.bundle.RegisterUnmarshalFunc("json", json.Unmarshal)
	names, err := fs.Glob(files, "messages/*.json")
	if err != nil {
		return nil, fmt.Errorf("list messages: %w", err)
	}
	scripts := map[language.Tag]map[string]map[string]string{}
	for _, name := range names {
		file, err := c.bundle.LoadMessageFileFS(files, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		scripts[file.Tag] = scriptTexts(file.Messages)
	}
	for _, tag := range c.bundle.LanguageTags() {
		c.texts = append(c.texts, &texts{Lang: tag.String(), localizer: i18n.NewLocalizer(c.bundle, tag.String()),
			Scripts: scripts[tag], money: currency.NewFormatter(currency.NewLocale(tag.String()))})
	}
	c.matcher = language.NewMatcher(c.bundle.LanguageTags())
	return c, nil
}

// scriptTexts is the messages for scripts, by key and plural form, with their {{.Name}} places as they are.
func scriptTexts(messages []*i18n.Message) map[string]map[string]string {
	found := map[string]map[string]string{}
	for _, m := range messages {
		if !scriptKeys.MatchString(m.ID) {
			continue
		}
		forms := map[string]string{"zero": m.Zero, "one": m.One, "two": m.Two, "few": m.Few, "many": m.Many, "other": m.Other}
		maps.DeleteFunc(forms, func(_, text string) bool { return text == "" })
		found[m.ID] = forms
	}
	return found
}

// in is the texts in the best language for an Accept-Language header.
func (c *catalogue) in(accept string) *texts {
	wanted, _, err := language.ParseAcceptLanguage(accept)
	if err != nil {
		wanted = nil // a header that can not be read asks for nothing
	}
	_, n, _ := c.matcher.Match(wanted...)
	return c.texts[n]
}

// texts is the catalogue in one language. Templates call its methods.
type texts struct {
	Lang string
	// Scripts is the texts that scripts show, by key and plural form.
	Scripts   map[string]map[string]string
	localizer *i18n.Localizer
	money     *currency.Formatter
}

// T is the text of a key. Pairs are names and values for its places. A key that is not there shows itself.
func (t *texts) T(key string, pairs ...any) string {
	text, err := t.localizer.Localize(&i18n.LocalizeConfig{MessageID: key, TemplateData: named(pairs)})
	if err != nil {
		return key
	}
	return text
}

// N is T for a counted thing, an integer, in the form of its count if the text has forms. The count is also the place
// Count.
func (t *texts) N(key string, count any, pairs ...any) string {
	pairs = append(pairs, "Count", count)
	text, err := t.localizer.Localize(&i18n.LocalizeConfig{MessageID: key, PluralCount: count, TemplateData: named(pairs)})
	if err != nil {
		return t.T(key, pairs...)
	}
	return text
}

func named(pairs []any) map[string]any {
	m := make(map[string]any, len(pairs)/2)
	for n := 0; n+1 < len(pairs); n += 2 {
		m[fmt.Sprint(pairs[n])] = pairs[n+1]
	}
	return m
}

// has reports whether there is a text of this key.
func (t *texts) has(key string) bool {
	_, err := t.localizer.Localize(&i18n.LocalizeConfig{MessageID: key})
	return err == nil
}

// Money is an amount as people of this language write it.
func (t *texts) Money(m model.Money) string {
	amount, err := currency.NewAmountFromInt64(m.Amount, m.Currency)
	if err != nil {
		return strconv.FormatInt(m.Amount, 10) + " " + m.Currency
	}
	return t.money.Format(amount)
}

var numbers = regexp.MustCompile(`\d+`)

// Reason is a field's reason from package model, by its key: the reason itself with # for each number, the numbers in
// the places A and B. One that has no text is shown as it is.
func (t *texts) Reason(reason string) string {
	key := "reason." + numbers.ReplaceAllString(reason, "#")
	if !t.has(key) {
		return reason
	}
	found := append(numbers.FindAllString(reason, 2), "", "")
	return t.T(key, "A", found[0], "B", found[1])
}
