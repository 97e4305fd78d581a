// Package static has the style sheet, the scripts and the images that pages load.
package static
