package senders

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

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
	if !isWord(email) || address == "" {
		return false, nil
	}
	return c.written(ctx, accountID, email, time.Time{}, func(to string) bool { return mailname.Address(to) == address })
}

// AllWrittenTo returns those of the addresses that WrittenTo reports, in the form of [mailname.Address]. It searches
// once for 20 of them, which is faster than one by one.
func (c Correspondents) AllWrittenTo(ctx context.Context, accountID string, emails []string) (map[string]bool, error) {
	written := map[string]bool{}
	words := slices.DeleteFunc(slices.Clone(emails), func(email string) bool {
		return !isWord(email) || mailname.Address(email) == ""
	})
	slices.Sort(words)
	for some := range slices.Chunk(slices.Compact(words), searchedAtOnce) {
		if err := c.addWrittenTo(ctx, accountID, some, written); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// searchedAtOnce is how many addresses are looked for by one search.
const searchedAtOnce = 20

func (c Correspondents) addWrittenTo(ctx context.Context, accountID string, words []string,
	written map[string]bool) error {
	query := `in:sent {to:"` + strings.Join(words, `" to:"`) + `"}`
	found, err := c.Store.Search(ctx, accountID, mailindex.Search{Query: query, SpamAndTrash: true, Limit: mostSent})
	if err != nil {
		return err
	}
	for _, word := range words {
		is := func(to string) bool { return mailname.Address(to) == mailname.Address(word) }
		if slices.ContainsFunc(found.Messages, func(sent *postroom.Message) bool { return isWritten(sent, is) }) {
			written[mailname.Address(word)] = true
		}
	}
	if len(found.Messages) < mostSent {
		return nil
	}
	for _, word := range words { // mail to others may have hidden it
		if address := mailname.Address(word); !written[address] {
			if is, err := c.WrittenTo(ctx, accountID, word); err != nil {
				return err
			} else if is {
				written[address] = true
			}
		}
	}
	return nil
}

// WrittenToDomain reports that of anybody in an organizational domain, see [authres.OrganizationalDomain].
func (c Correspondents) WrittenToDomain(ctx context.Context, accountID, domain string) (bool, error) {
	if !isWord(domain) {
		return false, nil
	}
	return c.written(ctx, accountID, domain, time.Time{}, func(to string) bool {
		return authres.OrganizationalDomain(to) == domain
	})
}

// isWord reports whether a text is one word of a search.
func isWord(text string) bool { return text != "" && !strings.ContainsAny(text, "\" \t()") }

// written looks at what was sent before an instant; zero is now.
func (c Correspondents) written(ctx context.Context, accountID, word string, before time.Time,
	is func(to string) bool) (bool, error) {
	query := `in:sent to:"` + word + `"`
	if !before.IsZero() {
		query += " before:" + strconv.FormatInt(before.Unix(), 10)
	}
	found, err := c.Store.Search(ctx, accountID, mailindex.Search{Query: query, SpamAndTrash: true, Limit: mostSent})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(found.Messages, func(sent *postroom.Message) bool { return isWritten(sent, is) }), nil
}

// isWritten reports whether a person has written a message that was sent, to such a recipient.
func isWritten(sent *postroom.Message, is func(to string) bool) bool {
	return sent.HasLabel(postroom.LabelSent) && !isAutomatic(sent) && slices.ContainsFunc(
		slices.Concat(sent.To, sent.Cc, sent.Bcc), func(to postroom.Address) bool { return is(to.Email) })
}

// Answers returns the newest answers that a person has written to whom an answer to msg goes, in other threads, newest
// first. What was sent after msg came does not count, nor does what is in the trash.
func (c Correspondents) Answers(ctx context.Context, msg *postroom.Message) (list []*postroom.Message, err error) {
	to := msg.From.Email
	switch {
	case msg.HasLabel(postroom.LabelSent) && len(msg.To) > 0: // an answer to one's own is for whom it went to
		to = msg.To[0].Email
	case len(msg.ReplyTo) > 0:
		to = msg.ReplyTo[0].Email
	}
	address := mailname.Address(to)
	if !isWord(address) {
		return nil, nil
	}
	query := `in:sent to:"` + to + `"`
	if !msg.ReceivedAt.IsZero() {
		query += " before:" + strconv.FormatInt(msg.ReceivedAt.Unix(), 10)
	}
	found, err := c.Store.Search(ctx, msg.AccountID, mailindex.Search{Query: query, Limit: mostSent})
	for _, sent := range found.Messages {
		answers := sent.InReplyTo != "" && sent.ThreadID != msg.ThreadID
		if answers && isWritten(sent, func(to string) bool { return mailname.Address(to) == address }) {
			list = append(list, sent)
		}
	}
	return list, err
}

// isAutomatic reports whether a program has sent the message, such as an answer by a rule (RFC 3834, section 5).
func isAutomatic(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Header("Auto-Submitted"), func(v string) bool { return !strings.EqualFold(v, "no") })
}
