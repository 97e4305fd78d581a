// The page's texts, from the catalogue in its data block.

// reader makes text(key, count, places): the form of the count in the language, its {{.Name}} places filled.
export function reader(messages, lang) {
  const plural = new Intl.PluralRules(lang);
  const number = new Intl.NumberFormat(lang);
  return function text(key, count = 0, places = {}) {
    const forms = messages[key];
    if (!forms) return key;
    const form = forms[plural.select(count)] ?? forms.other;
    const filled = { Count: number.format(count), ...places };
    return form.replace(/\{\{\s*\.(\w+)\s*\}\}/g, (_, name) => filled[name] ?? "");
  };
}

// pageText is the reader of this page's block.
export function pageText() {
  const block = document.getElementById("messages");
  return reader(block ? JSON.parse(block.textContent) : {}, document.documentElement.lang);
}
