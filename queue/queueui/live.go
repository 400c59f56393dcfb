package queueui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/webui"
)

// events streams the changes of the named page.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	page, err := watchable(r.URL.Query().Get("page"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if h.cfg.Authorize != nil {
		of := *r
		of.URL = page // a host may go by the page
		if err := h.cfg.Authorize(&of, ActionView); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
	}
	h.hub.ServeEvents(w, r, page)
}

// watchable are the pages that can change.
func watchable(page string) (*url.URL, error) {
	u, err := url.ParseRequestURI(page)
	if err != nil || len(page) > 2000 || u.Host != "" {
		return nil, errors.New("page must be the path of a page, with its query")
	}
	id, isOne := strings.CutPrefix(u.Path, "/jobs/")
	if flow, is := strings.CutPrefix(u.Path, "/flows/"); is {
		id, isOne = flow, true
	}
	if !slices.Contains([]string{"/", "/jobs", "/flows"}, u.Path) && (!isOne || id == "" || strings.Contains(id, "/")) {
		return nil, fmt.Errorf("the page %s does not change", webui.Printable(u.Path, webui.MaxLine))
	}
	return u, nil
}
