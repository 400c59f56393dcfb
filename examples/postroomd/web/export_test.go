package web

import (
	"net/url"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

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

// EndStreamsAfter bounds the streams of events by another time.
func (h *Handler) EndStreamsAfter(d time.Duration) { h.streamLasts = d }

// Watched is the address that is watched for a person who names a page.
func Watched(page string, p access.Person) string {
	u, err := url.Parse(page)
	if err != nil {
		return err.Error()
	}
	watchedBy(u, p)
	return u.RequestURI()
}
