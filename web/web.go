// Package web is the pages for shoppers and admins, and the middleware round everything; it mounts package api.
// A page is the whole purchase without JavaScript; with it, it is live.
package web

import (
	"net/http"

	"seckill/api"
)

// Options of New.
type Options struct {
	API api.Options
	// BaseURL is where the program is reached, as https://shop.example; an origin that forms may come from.
	BaseURL string
}

// New is the whole HTTP side of the program: middleware, pages, static files and the JSON API.
func New(opt Options) (http.Handler, error) { panic("todo") }
