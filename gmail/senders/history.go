package senders

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/mailname"
)

// History knows what was written before, by the mail of a store, as the conditions of package rules ask. What programs
// have sent for the owner, such as the answers of rules, is not written by the owner, and an automatic answer of
// another is none.
type History struct{ Store *mailstore.Store }

// WrittenTo reports whether the owner of the account had written to the sender of msg before msg; see
// [Correspondents.WrittenTo].
func (h History) WrittenTo(ctx context.Context, msg *postroom.Message) (bool, error) {
	address := mailname.Address(msg.From.Email)
	if !isWord(address) {
		return false, nil
	}
	return Correspondents(h).written(ctx, msg.AccountID, msg.From.Email, msg.ReceivedAt,
		func(to string) bool { return mailname.Address(to) == address })
}

// Thread returns when the owner and others have last written in the thread of msg, until an instant, and not before
// msg came. Drafts and spam do not count.
func (h History) Thread(ctx context.Context, msg *postroom.Message, until time.Time) (mine, theirs time.Time,
	err error) {
	if until.Before(msg.ReceivedAt) { // the clocks differ
		until = msg.ReceivedAt
	}
	messages, err := h.Store.ThreadHeaders(ctx, msg.AccountID, msg.ThreadID, until)
	for _, m := range messages {
		switch {
		case m.HasLabel(postroom.LabelDraft) || m.HasLabel(postroom.LabelSpam):
		case m.HasLabel(postroom.LabelSent):
			if !isAutomatic(m) {
				mine = m.ReceivedAt
			}
		case m.ID == msg.ID || !isAutomaticAnswer(m):
			theirs = m.ReceivedAt
		}
	}
	return mine, theirs, err
}

// isAutomaticAnswer reports whether a program has answered, such as that of somebody who is away (RFC 3834).
func isAutomaticAnswer(m *postroom.Message) bool {
	return slices.ContainsFunc(m.Header("Auto-Submitted"), func(v string) bool {
		return strings.HasPrefix(strings.ToLower(strings.TrimSpace(v)), "auto-replied")
	})
}
