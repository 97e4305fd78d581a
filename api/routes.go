package api

import "net/http"

// Base is where the calls of shoppers and admins stand.
const Base = "/api/v1"

// Route is one line of the route table.
type Route struct {
	Method string
	Path   string // in gin's form, with :id
	Admin  bool   // only for admins
	Socket bool   // upgrades the connection
	Health bool   // tells of the process, not of the shop
	// Unbounded: it may take as long as it needs, or bounds what it waits for itself.
	Unbounded bool
	// Body has the fields that the call reads, with a dot for those of an object in an object. Nil: it reads none.
	Body []string
	// Query has the query parameters that the call reads.
	Query  []string
	handle handler
}

// Routes is every call that answers no page, in the order of the contract.
func Routes() []Route {
	const admin = Base + "/admin"
	page := []string{"limit", "after"}
	filter := []string{"item", "buyer", "status", "no", "from", "to"}
	draft := []string{"title", "description", "image_url", "price", "price.amount", "price.currency", "stock",
		"per_buyer_limit", "pay_within", "starts_at", "ends_at"}
	return []Route{
		{Method: http.MethodGet, Path: Base + "/items", Query: page, handle: (*calls).items},
		{Method: http.MethodGet, Path: Base + "/items/:id", handle: (*calls).item},
		{Method: http.MethodPost, Path: Base + "/items/:id/buy", Unbounded: true, Body: []string{"quantity"},
			handle: (*calls).buy},
		{Method: http.MethodGet, Path: Base + "/tickets/:ticket", handle: (*calls).ticket},
		{Method: http.MethodGet, Path: Base + "/orders", Query: append([]string{"item"}, page...), handle: (*calls).orders},
		{Method: http.MethodGet, Path: Base + "/orders/:no", handle: (*calls).order},
		{Method: http.MethodGet, Path: Base + "/me", handle: (*calls).me},
		{Method: http.MethodGet, Path: Base + "/ws", Socket: true, Unbounded: true, Query: []string{"item"}, handle: (*calls).socket},

		{Method: http.MethodPost, Path: admin + "/items", Admin: true, Body: draft, handle: (*calls).publish},
		{Method: http.MethodGet, Path: admin + "/items", Admin: true, Query: page, handle: (*calls).adminItems},
		{Method: http.MethodGet, Path: admin + "/items/:id", Admin: true, handle: (*calls).adminItem},
		{Method: http.MethodPut, Path: admin + "/items/:id", Admin: true, Body: append([]string{"version"}, draft...),
			handle: (*calls).edit},
		{Method: http.MethodPost, Path: admin + "/items/:id/stock", Admin: true, Body: []string{"delta", "reason"},
			handle: (*calls).adjustStock},
		{Method: http.MethodPost, Path: admin + "/items/:id/pause", Admin: true, handle: (*calls).pause},
		{Method: http.MethodPost, Path: admin + "/items/:id/resume", Admin: true, handle: (*calls).resume},
		{Method: http.MethodPost, Path: admin + "/items/:id/close", Admin: true, handle: (*calls).close},
		{Method: http.MethodGet, Path: admin + "/items/:id/ledger", Admin: true, handle: (*calls).ledger},
		{Method: http.MethodGet, Path: admin + "/orders", Admin: true, Query: append(page, filter...),
			handle: (*calls).adminOrders},
		{Method: http.MethodGet, Path: admin + "/orders.csv", Admin: true, Unbounded: true, Query: filter, handle: (*calls).ordersCSV},
		{Method: http.MethodGet, Path: admin + "/audit", Admin: true, Unbounded: true, handle: (*calls).audit},

		{Method: http.MethodGet, Path: "/healthz", Health: true, handle: (*calls).healthz},
		{Method: http.MethodGet, Path: "/readyz", Health: true, handle: (*calls).readyz},
		{Method: http.MethodGet, Path: "/metrics", Health: true, handle: (*calls).metrics},
	}
}
