package gmailtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
)

// A credential is the account and the scopes of an access token.
type credential struct {
	account *Account
	scopes  []string // nil: all
}

// check refuses a method that needs another scope, and, like Gmail, content that the scope gmail.metadata does not
// show.
func (c *credential) check(r *request) error {
	if c.scopes == nil {
		return nil
	}
	needed, have := oauth.ScopesOf(string(r.id)), false
	only := true // the scope of metadata
	for _, scope := range c.scopes {
		if short := oauth.ShortScope(scope); slices.Contains(needed, short) {
			have = true
			only = only && strings.HasSuffix(short, "metadata")
		}
	}
	switch {
	case !have:
		return insufficientScope()
	case only && r.query.Get("q") != "":
		return metadataScope("'q' parameter")
	case only && (r.id == MessagesGet || r.id == ThreadsGet) && (r.query.Get("format") == "" || isFormat(r, "full")):
		return metadataScope("format FULL")
	case only && isFormat(r, "raw"):
		return metadataScope("format RAW")
	}
	return nil
}

func isFormat(r *request, format string) bool {
	return strings.EqualFold(r.query.Get("format"), format)
}

func insufficientScope() error {
	return &wire.Error{
		Status: http.StatusForbidden, Reason: "insufficientPermissions",
		Message:   "Request had insufficient authentication scopes.",
		Challenge: `Bearer realm="https://accounts.google.com/", error="insufficient_scope"`,
	}
}

func metadataScope(what string) error {
	return &wire.Error{Status: http.StatusForbidden, Reason: "forbidden",
		Message: "Metadata scope does not support " + what}
}
