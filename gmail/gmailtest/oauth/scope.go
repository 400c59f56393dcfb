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

// ScopesOf returns the scopes that permit a method of the API, without the prefix. A token needs one of them.
func ScopesOf(method string) []string { return slices.Clone(scopesOf[method]) }

// scopesOf are the scopes that permit a method, as the discovery document lists them, without the prefix.
var scopesOf = func() map[string][]string {
	scopes := make(map[string][]string)
	for _, line := range []struct{ scopes, methods string }{
		{
			"full modify readonly settings.basic",
			"settings.delegates.get settings.delegates.list settings.filters.get settings.filters.list settings.forwardingAddresses.get " +
				"settings.forwardingAddresses.list settings.getAutoForwarding settings.getImap settings.getLanguage settings.getPop " +
				"settings.getVacation settings.sendAs.get settings.sendAs.list",
		},
		{
			"settings.basic settings.sharing",
			"settings.cse.identities.create settings.cse.identities.delete settings.cse.identities.patch settings.cse.keypairs.create " +
				"settings.cse.keypairs.disable settings.cse.keypairs.enable settings.cse.keypairs.obliterate settings.sendAs.patch " +
				"settings.sendAs.smimeInfo.delete settings.sendAs.smimeInfo.insert settings.sendAs.smimeInfo.setDefault settings.sendAs.update",
		},
		{
			"settings.sharing",
			"settings.delegates.create settings.delegates.delete settings.forwardingAddresses.create settings.forwardingAddresses.delete " +
				"settings.sendAs.create settings.sendAs.delete settings.sendAs.verify settings.updateAutoForwarding",
		},
		{
			"full modify",
			"messages.batchModify messages.modify messages.trash messages.untrash threads.modify threads.trash threads.untrash",
		},
		{
			"settings.basic",
			"settings.filters.create settings.filters.delete settings.updateImap settings.updateLanguage settings.updatePop settings.updateVacation",
		},
		{
			"full modify readonly settings.basic settings.sharing",
			"settings.cse.identities.get settings.cse.identities.list settings.cse.keypairs.get settings.cse.keypairs.list " +
				"settings.sendAs.smimeInfo.get settings.sendAs.smimeInfo.list",
		},
		{"full metadata modify readonly", "history.list messages.list stop threads.list watch"},
		{"addons.current.action.compose compose full modify", "drafts.create drafts.delete drafts.send drafts.update"},
		{"full labels modify", "labels.create labels.delete labels.patch labels.update"},
		{"full", "messages.batchDelete messages.delete threads.delete"},
		{"compose full modify readonly", "drafts.get drafts.list"},
		{"full labels metadata modify readonly", "labels.get labels.list"},
		{
			"addons.current.message.action addons.current.message.metadata addons.current.message.readonly full metadata modify readonly",
			"messages.get threads.get",
		},
		{"full insert modify", "messages.import messages.insert"},
		{"compose full metadata modify readonly", "getProfile"},
		{"addons.current.action.compose compose full modify send", "messages.send"},
		{"addons.current.message.action addons.current.message.readonly full modify readonly", "messages.attachments.get"},
	} {
		for method := range strings.FieldsSeq(line.methods) {
			scopes[method] = strings.Fields(line.scopes)
		}
	}
	return scopes
}()
