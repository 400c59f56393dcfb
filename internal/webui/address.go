package webui

import (
	"net/http"
	"strings"
)

// Root returns the relative path from a page to the mount of the handler, of which the page's path begins with a slash:
// links do not know its absolute path.
func Root(p string) string {
	if depth := strings.Count(p, "/") - 1; depth > 0 {
		return strings.Repeat("../", depth)
	}
	return "./"
}

// Redirect redirects to a path relative to the request's own, as the browser sees it.
func Redirect(w http.ResponseWriter, location string) {
	w.Header().Set("Location", location)
	w.WriteHeader(http.StatusSeeOther)
}
