package webui

import "net/http"

// policy lets pages load only their own resources, without inline scripts and styles, so that injected markup has no
// effect.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Secured sets headers that disable browser features that pages do not need.
func Secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		// Other hosts learn nothing. With no-referrer browsers would send "Origin: null" with forms, which CheckOrigin
		// refuses where there is no Sec-Fetch-Site: over plain HTTP, and by older browsers.
		header.Set("Referrer-Policy", "same-origin")
		// The host of a link in a mail is asked for when the link is followed, not when it is seen.
		header.Set("X-DNS-Prefetch-Control", "off")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		// Pages may show other people's mail and must not be cached.
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// OtherSite says to people why a request is refused that CheckOrigin refuses.
const OtherSite = "This request came from another site. Go back, reload the page and try again."

// CheckOrigin returns an error for a request that another site makes a browser send.
func CheckOrigin(r *http.Request) error { return http.NewCrossOriginProtection().Check(r) }
