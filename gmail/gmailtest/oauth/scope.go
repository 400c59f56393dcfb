package oauth

import (
	"slices"
	"strings"
)

// scopePrefix begins the scopes of Gmail, except the one that permits everything.
const (
	scopeFull   = "https://mail.google.com/"
	scopePrefix = "https://www.googleapis.com/auth/gmail."
)

// identityScopes identify the owner. They are granted without a separate choice.
var identityScopes = []string{
	"openid", "email", "profile",
	"https://www.googleapis.com/auth/userinfo.email", "https://www.googleapis.com/auth/userinfo.profile",
}

// meanings describe scopes to people. Their keys have no prefix.
var meanings = map[string]string{
	"addons.current.action.compose":   "manage drafts and send, in the add-on",
	"addons.current.message.action":   "see the open message when used, in the add-on",
	"addons.current.message.metadata": "see the headers of the open message, in the add-on",
	"addons.current.message.readonly": "see the open message, in the add-on",
	"compose":                         "manage drafts and send mail",
	"full":                            "read, write, send and permanently delete all mail",
	"insert":                          "add mail to the mailbox",
	"labels":                          "see and change labels",
	"metadata":                        "see headers and labels, but no text",
	"modify":                          "read, write and send mail, and delete nothing permanently",
	"readonly":                        "see all mail and settings",
	"send":                            "send mail",
	"settings.basic":                  "see and change settings and filters",
	"settings.sharing":                "manage who else may read, send and be forwarded to",
}

// Meaning describes a scope without its prefix to people. It is empty for an unknown scope.
func Meaning(short string) string { return meanings[short] }

// ShortScope returns the scope as a key of meanings.
func ShortScope(scope string) string {
	if scope == scopeFull {
		return "full"
	}
	return strings.TrimPrefix(scope, scopePrefix)
}

// knownScope reports whether a program can request the scope.
func knownScope(scope string) bool {
	if scope == scopeFull || slices.Contains(identityScopes, scope) {
		return true
	}
	short, ours := strings.CutPrefix(scope, scopePrefix)
	if !ours {
		return false
	}
	_, known := meanings[short]
	return known
}
