package ws

import (
	"net/http"
	"net/url"
	"strings"
)

// sameOrigin reports whether a handshake comes from no browser (it has no Origin), from a page of the host it is sent
// to, whatever the scheme, because a proxy may have ended TLS, or from a page of base.
func sameOrigin(r *http.Request, base *url.URL) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	origin, err := url.Parse(origins[0])
	if err != nil || len(origins) > 1 || origin.Host == "" || origins[0] != origin.Scheme+"://"+origin.Host {
		return false
	}
	if strings.EqualFold(origin.Host, r.Host) {
		return true
	}
	return base != nil && strings.EqualFold(origin.Scheme, base.Scheme) && strings.EqualFold(origin.Host, base.Host)
}
