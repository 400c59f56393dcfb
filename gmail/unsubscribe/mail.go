package unsubscribe

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// errEdited reports a draft that says something else by now: only what was approved is sent.
var errEdited = errors.New("unsubscribe: somebody has changed the recipients or the subject of the mail in its draft; " +
	"send it yourself, or delete it")

// write sends the mail that leaves a list, once: package outbox notes each attempt before it asks Gmail, and looks for
// the mail before it tries again.
func (l *Leaver) write(ctx context.Context, a postroom.Action, m mime.Mailto) error {
	key := "unsubscribe:" + a.MessageID // another action about the message finds what was sent
	subject, text := MailOf(m)
	_, err := l.cfg.Drafts.Create(ctx, a.AccountID, key, outbox.DraftContent{
		To: []mime.Address{{Email: m.To[0]}}, Subject: subject, Text: text,
		AutoSubmitted: "auto-generated", // the address of a list does not become one that the person writes to
	})
	if err == nil {
		_, err = l.cfg.Drafts.SendIf(ctx, a.AccountID, key, asApproved(m.To[0], subject))
	}
	switch {
	case errors.Is(err, errEdited):
		return queue.Fatal(errEdited)
	case gmailapi.ClassOf(err) == gmailapi.ClassGone: // which is not to be taken for the message of the list
		return queue.Fatal(fmt.Errorf("unsubscribe: the draft of the mail was deleted before it was sent: %v", err)) //nolint:errorlint // the class must not be found
	}
	return gmailapi.Verdict(err)
}

// asApproved returns a check of a draft: that it goes to that address alone, with the subject.
func asApproved(to, subject string) func(*mime.Message) error {
	return func(m *mime.Message) error {
		if len(m.To) != 1 || len(m.Cc)+len(m.Bcc) > 0 || !strings.EqualFold(m.To[0].Email, to) ||
			strings.Join(strings.Fields(m.Subject), " ") != strings.Join(strings.Fields(subject), " ") {
			return errEdited
		}
		return nil
	}
}
