package auth

import (
	"fmt"
	"slices"
	"strings"
)

// The scopes of Gmail that programs usually ask for.
const (
	// ScopeModify reads, changes, trashes and sends mail, but cannot delete it permanently.
	ScopeModify = gmailScope + "modify"
	// ScopeFull is ScopeModify with permanent deletion.
	ScopeFull = "https://mail.google.com/"
	// ScopeReadonly reads mail and settings.
	ScopeReadonly = gmailScope + "readonly"
	// ScopeMetadata reads headers and labels, but no text.
	ScopeMetadata = gmailScope + "metadata"
	// ScopeLabels reads and changes labels, but not the labels of messages.
	ScopeLabels = gmailScope + "labels"
	// ScopeInsert adds messages to the mailbox.
	ScopeInsert = gmailScope + "insert"
	// ScopeSend sends mail.
	ScopeSend = gmailScope + "send"
	// ScopeCompose writes drafts and sends mail.
	ScopeCompose = gmailScope + "compose"
	// ScopeSettings reads and changes settings and filters.
	ScopeSettings = gmailScope + "settings.basic"
	// ScopeSharing changes delegates and forwarding.
	ScopeSharing = gmailScope + "settings.sharing"
)

const gmailScope = "https://www.googleapis.com/auth/gmail."

// identityScopes make the server name the mailbox.
var identityScopes = []string{"openid", "email"}

// includes lists the scopes that another includes, according to the scopes of Gmail's methods.
var includes = map[string][]string{
	ScopeFull:     {ScopeModify, ScopeReadonly, ScopeMetadata, ScopeLabels, ScopeInsert, ScopeSend, ScopeCompose},
	ScopeModify:   {ScopeReadonly, ScopeMetadata, ScopeLabels, ScopeInsert, ScopeSend, ScopeCompose},
	ScopeReadonly: {ScopeMetadata},
	ScopeCompose:  {ScopeSend},
}

// consequences describe the features that need a scope.
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

// A Refusal is a scope that was requested and not granted: the person unticked its box.
type Refusal struct {
	Scope       string
	Consequence string // the features that do not work without it
}

// String returns the scope and the consequence.
func (r Refusal) String() string {
	return fmt.Sprintf("%s was not granted: %s", r.Scope, r.Consequence)
}

// Missing returns the wanted scopes that the grant does not have, neither by themselves nor as a part of a wider one,
// in the given order.
func (g Grant) Missing(wanted ...string) []Refusal {
	var missing []Refusal
	for _, scope := range wanted {
		if slices.ContainsFunc(g.Scopes, func(has string) bool {
			return has == scope || slices.Contains(includes[has], scope)
		}) {
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

// splitScopes parses the scopes of a response, sorted. A response without scopes grants the requested ones (RFC 6749,
// section 5.1).
func splitScopes(answer any, asked []string) []string {
	scopes := slices.Clone(asked)
	if text, ok := answer.(string); ok && text != "" {
		scopes = strings.Fields(text)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}
