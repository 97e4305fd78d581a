// Package static has the style sheet, the scripts and the images that pages load. Scripts are plain ES modules, as the
// browser runs them; vendor/ is copied from the packages that package-lock.json pins.
package static

import "embed"

// Files is everything that is served below /static/.
//
//go:embed *.css *.js *.svg vendor/*.css vendor/*.md
var Files embed.FS
