package senders

import (
	"context"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime/authres"
)

// Correspondents knows to whom people have written, by the mail of a store.
type Correspondents struct{ Store *mailstore.Store }

// mostSent bounds the sent messages that are read: a search for an address also finds others with the same words.
const mostSent = 25

// WrittenTo reports whether the newest mail that the account has sent to the address has a message that a person wrote.
// What programs have sent, such as the answers of rules, does not count.
func (c Correspondents) WrittenTo(ctx context.Context, accountID, email string) (bool, error) {
	address := mailname.Address(email)
	if address == "" || strings.ContainsAny(email, "\" \t()") { // more than a word of a search
		return false, nil
	}
	return c.written(ctx, accountID, email, func(to string) bool { return mailname.Address(to) == address })
}

// WrittenToDomain reports that of anybody in an organizational domain, see [authres.OrganizationalDomain].
func (c Correspondents) WrittenToDomain(ctx context.Context, accountID, domain string) (bool, error) {
	if domain == "" || strings.ContainsAny(domain, "\" \t()") {
		return false, nil
	}
	return c.written(ctx, accountID, domain, func(to string) bool { return authres.OrganizationalDomain(to) == domain })
}

func (c Correspondents) written(ctx context.Context, accountID, word string, is func(to string) bool) (bool, error) {
	found, err := c.Store.Search(ctx, accountID,
		mailindex.Search{Query: `in:sent to:"` + word + `"`, SpamAndTrash: true, Limit: mostSent})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(found.Messages, func(sent *postroom.Message) bool {
		return sent.HasLabel(postroom.LabelSent) && !isAutomatic(sent) && slices.ContainsFunc(
			slices.Concat(sent.To, sent.Cc, sent.Bcc), func(to postroom.Address) bool { return is(to.Email) })
	}), nil
}

// isAutomatic reports whether a program has sent the message, such as an answer by a rule (RFC 3834, section 5).
func isAutomatic(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Header("Auto-Submitted"), func(v string) bool { return !strings.EqualFold(v, "no") })
}
