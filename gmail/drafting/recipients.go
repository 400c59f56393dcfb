package drafting

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// recipients returns whom an answer goes to, as Gmail does: Reply-To, or else From. Anyone can write a Reply-To: one of
// other people than From needs a person who has asked for the draft. An error is a personError.
func recipients(m *postroom.Message, asked bool) ([]mime.Address, error) {
	if len(m.ReplyTo) == 0 {
		if m.From.Email == "" {
			return nil, personError("the message names no sender")
		}
		return []mime.Address{{Name: m.From.Name, Email: m.From.Email}}, nil
	}
	var to []mime.Address
	for _, a := range m.ReplyTo {
		if !asked && !samePeople(m.From.Email, a.Email) {
			return nil, personError(fmt.Sprintf("the message is from %s and asks for answers to %s, at another domain",
				m.From.Email, a.Email))
		}
		to = append(to, mime.Address{Name: cmp.Or(a.Name, nameOf(m, a.Email)), Email: a.Email})
	}
	return to, nil
}

// providers have mailboxes of anybody at their domains.
var providers = strings.Fields(`gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com
	aol.com icloud.com me.com mac.com proton.me protonmail.com gmx.de gmx.net gmx.com web.de t-online.de freenet.de
	mail.com zoho.com fastmail.com yandex.ru mail.ru qq.com 163.com orange.fr free.fr laposte.net libero.it`)

// samePeople reports whether two addresses are of one person or organization, as far as their domains tell.
func samePeople(from, other string) bool {
	domain := authres.OrganizationalDomain(from)
	return strings.EqualFold(from, other) ||
		domain == authres.OrganizationalDomain(other) && !slices.Contains(providers, strings.ToLower(domain))
}

func nameOf(m *postroom.Message, email string) string {
	if strings.EqualFold(m.From.Email, email) {
		return m.From.Name
	}
	return ""
}

// answers reports whether a message that the person has sent in a thread goes to somebody who has written there: one
// that goes to others alone, such as a forwarded message, is no answer.
func answers(sent *postroom.Message, thread []*postroom.Message) bool {
	var writers []postroom.Address
	for _, m := range thread {
		if m.HasLabel(postroom.LabelSent) || isDraft(m) {
			continue
		}
		writers = append(append(writers, m.From), m.ReplyTo...)
	}
	return goesTo(sent, writers)
}

// goesTo reports whether a message goes to one of these.
func goesTo(m *postroom.Message, people []postroom.Address) bool {
	return slices.ContainsFunc(slices.Concat(m.To, m.Cc, m.Bcc), func(to postroom.Address) bool {
		return slices.ContainsFunc(people, func(a postroom.Address) bool { return strings.EqualFold(a.Email, to.Email) })
	})
}

// replyAll is the word for an answer to everybody, as a sentence of its own: recipients are no matter of a model, and
// "do not reply all" and "reply to all of it" say something else.
var replyAll = regexp.MustCompile(
	`(?im)(?:^|[.,;:!?])[ \t]*(?:please[ \t]+)?reply(?:[ -]to)?[ -](?:all|everybody|everyone)[ \t]*(?:$|[.,;:!?])`)

// toEverybody adds whom the message was sent to besides the person, as copies (RFC 5322, section 3.6.3).
func (w *work) toEverybody(ctx context.Context, content *outbox.DraftContent) error {
	own, err := w.cfg.Drafts.Own(ctx, w.reply.AccountID)
	if err != nil {
		return err
	}
	has := make(map[string]bool)
	for _, a := range own {
		has[mailname.Mailbox(a.Email)] = true
	}
	for _, a := range slices.Concat(content.To, content.Cc, content.Bcc) {
		has[mailname.Mailbox(a.Email)] = true
	}
	for _, a := range slices.Concat(w.message.To, w.message.Cc) {
		if key := mailname.Mailbox(a.Email); strings.Contains(a.Email, "@") && !has[key] {
			has[key] = true
			content.Cc = append(content.Cc, mime.Address{Name: a.Name, Email: a.Email})
		}
	}
	return nil
}

// addressees are the addresses that a draft goes to.
func addressees(content *outbox.DraftContent) (list []string) {
	for _, a := range slices.Concat(content.To, content.Cc, content.Bcc) {
		list = append(list, a.Email)
	}
	return list
}
