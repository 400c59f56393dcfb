// Package publichttp makes requests to URLs that strangers or settings name: only to public addresses, each checked
// after its name was resolved, so that no name leads into the program's own network.
package publichttp

import (
	"net"
	"net/http"
	"syscall"
	"time"
)

// NewClient makes a client that follows no redirects, keeps no cookies, uses no proxies of the environment, and
// connects only to public addresses. private lifts the last. The time-out is that of a whole request.
func NewClient(timeout time.Duration, private bool) *http.Client {
	dialer := &net.Dialer{Timeout: timeout}
	if !private {
		dialer.Control = func(_, address string, _ syscall.RawConn) error { return check(address) }
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: timeout,
			IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
