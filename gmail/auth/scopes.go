package auth

import (
	"fmt"
	"slices"
	"strings"
)

// The scopes of Gmail that programs usually ask for.
const (
	// ScopeModify reads, changes, trashes and sends mail, and deletes nothing permanently.
	ScopeModify = gmailScope + "modify"
	// ScopeFull is ScopeModify with permanent deletion.
	ScopeFull = "https://mail.google.com/"
	// ScopeReadonly reads mail and settings.
	ScopeReadonly = gmailScope + "readonly"
	// ScopeMetadata reads headers and labels, and no text.
	ScopeMetadata = gmailScope + "metadata"
	// ScopeLabels reads and changes labels, and not which message has which.
	ScopeLabels = gmailScope + "labels"
	// ScopeInsert puts messages into the mailbox.
	ScopeInsert = gmailScope + "insert"
	// ScopeSend sends mail.
	ScopeSend = gmailScope + "send"
	// ScopeCompose writes drafts and sends mail.
	ScopeCompose = gmailScope + "compose"
	// ScopeSettings reads and changes settings and filters.
	ScopeSettings = gmailScope + "settings.basic"
	// ScopeSharing changes who else may read, send and be forwarded to.
	ScopeSharing = gmailScope + "settings.sharing"
)

const gmailScope = "https://www.googleapis.com/auth/gmail."

// identityScopes make the server say whose mailbox it is.
var identityScopes = []string{"openid", "email"}

// includes lists the scopes that another includes, as the scopes of Gmail's methods show.
var includes = map[string][]string{
	ScopeFull:     {ScopeModify, ScopeReadonly, ScopeMetadata, ScopeLabels, ScopeInsert, ScopeSend, ScopeCompose},
	ScopeModify:   {ScopeReadonly, ScopeMetadata, ScopeLabels, ScopeInsert, ScopeSend, ScopeCompose},
	ScopeReadonly: {ScopeMetadata},
	ScopeCompose:  {ScopeSend},
}

// consequences say what does not work without a scope.
var consequences = map[string]string{
	ScopeFull:     "messages cannot be deleted permanently",
	ScopeModify:   "mail cannot be labelled, archived, trashed or answered",
	ScopeReadonly: "mail cannot be read",
	ScopeMetadata: "messages cannot be listed",
	ScopeLabels:   "labels cannot be created or changed",
	ScopeInsert:   "messages cannot be put into the mailbox",
	ScopeSend:     "mail cannot be sent",
	ScopeCompose:  "drafts cannot be written and mail cannot be sent",
	ScopeSettings: "filters and settings cannot be changed",
	ScopeSharing:  "forwarding and delegates cannot be changed",
}

// A Refusal is a scope that was asked for and not granted: the person has unticked its box.
type Refusal struct {
	Scope       string
	Consequence string // what does not work without it
}

// String says both.
func (r Refusal) String() string {
	return fmt.Sprintf("%s was not granted: %s", r.Scope, r.Consequence)
}

// Missing returns the scopes among those wanted that the grant does not have, neither by themselves nor as a part of a wider
// one, in the order in which they are wanted.
func (g Grant) Missing(wanted ...string) []Refusal {
	var missing []Refusal
	for _, scope := range wanted {
		if slices.ContainsFunc(g.Scopes, func(has string) bool { return has == scope || slices.Contains(includes[has], scope) }) {
			continue
		}
		consequence, ok := consequences[scope]
		if !ok {
			consequence = "calls that need it are refused"
		}
		missing = append(missing, Refusal{Scope: scope, Consequence: consequence})
	}
	return missing
}

// splitScopes reads the scopes of an answer, sorted. One that names none grants what was asked for (RFC 6749, section 5.1).
func splitScopes(answer any, asked []string) []string {
	scopes := slices.Clone(asked)
	if text, ok := answer.(string); ok && text != "" {
		scopes = strings.Fields(text)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
