package gmailtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
)

// scopesOf are the scopes that permit a method, as the discovery document lists them, without the prefix. A token needs one of
// them.
var scopesOf = func() map[Method][]string {
	scopes := make(map[Method][]string)
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
			scopes[Method(method)] = strings.Fields(line.scopes)
		}
	}
	return scopes
}()

// A credential is the account and the scopes of an access token.
type credential struct {
	account *Account
	scopes  []string // nil: all
}

// check refuses a method that needs another scope, and, like Gmail, content that the scope gmail.metadata does not show.
func (c *credential) check(r *request) error {
	if c.scopes == nil {
		return nil
	}
	needed, have := scopesOf[r.id], false
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
		Status: http.StatusForbidden, Reason: "insufficientPermissions", Message: "Request had insufficient authentication scopes.",
		Challenge: `Bearer realm="https://accounts.google.com/", error="insufficient_scope"`,
	}
}

func metadataScope(what string) error {
	return &wire.Error{Status: http.StatusForbidden, Reason: "forbidden", Message: "Metadata scope does not support " + what}
}
