package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/safety/stop"
)

// maxWhy bounds a reason, in characters.
const maxWhy = 500

func whyOf(r *http.Request) string {
	why := []rune(strings.TrimSpace(r.PostFormValue("why")))
	return string(why[:min(len(why), maxWhy)])
}

// done goes back to the page that a form is on, unless what it asked for failed.
func (h *Handler) done(w http.ResponseWriter, r *http.Request, what string, err error) {
	if err != nil {
		h.failed(w, r, err)
		return
	}
	back(w, r, what)
}

// stop stops everything. A stop that is there stays as it is, with its author and reason.
func (h *Handler) stop(w http.ResponseWriter, r *http.Request) {
	stopped, err := h.app.Ledger.Switch().Stopped(r.Context())
	if err == nil && stopped == nil {
		err = h.app.Stop(r.Context(), by(r), stop.Options{Why: whyOf(r)})
	}
	h.done(w, r, "stop", err)
}

// resume ends the stop that the person has seen, and no other: somebody may have stopped everything since.
func (h *Handler) resume(w http.ResponseWriter, r *http.Request) {
	stopped, err := h.app.Ledger.Switch().Stopped(r.Context())
	switch {
	case err != nil:
	case stopped != nil && seen(stopped) != r.PostFormValue("seen"):
		err = usage.Errorf("Everything was stopped meanwhile, by %s: go back, reload the page, and look why.", stopped.By)
	default:
		err = h.app.Resume(r.Context(), by(r), whyOf(r))
	}
	h.done(w, r, "resume", err)
}

// seen tells one stop from another; empty if there is none.
func seen(s *stop.Stop) string {
	if s == nil {
		return ""
	}
	return s.At.UTC().Format(time.RFC3339Nano)
}
