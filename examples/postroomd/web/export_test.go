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

// HoldFrames keeps mails from being shown as HTML, until it is let go.
func (h *Handler) HoldFrames() (letGo func()) { return hold(h.frames) }

// HoldApplies keeps rules from being applied to old mail, and what they do from being counted, until it is let go.
func (h *Handler) HoldApplies() (letGo func()) { return hold(h.applies) }

// hold takes all places.
func hold(places chan struct{}) (letGo func()) {
	for range cap(places) {
		places <- struct{}{}
	}
	return func() {
		for range cap(places) {
			<-places
		}
	}
}

// Applying reports whether rules are being applied to the mail of an account.
func (h *Handler) Applying(accountID string) bool {
	_, now := h.applying.Load(accountID)
	return now
}
