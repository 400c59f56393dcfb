package web

import "github.com/postroom-go/postroom/examples/postroomd/web/access"

// A Route is a route as tests walk it.
type Route struct {
	Pattern string
	Role    access.Role
}

// Routes are all routes.
func (h *Handler) Routes() (list []Route) {
	for _, of := range h.routes() {
		list = append(list, Route{of.pattern, of.role})
	}
	return list
}
