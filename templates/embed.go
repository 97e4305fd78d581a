// Package templates has the pages' HTML and the message catalogue. Every text that a person sees is in messages/, one
// file a language; a template or script names it by its key.
package templates

import "embed"

// Files is the templates, *.html, and the catalogue, messages/*.json.
//
//go:embed *.html messages/*.json
var Files embed.FS
