package gmail

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
)

// An announcement is signed by the ledger before a message is sent. From it a later attempt finds out whether the message was
// sent. The rows of outbound messages are not signed and say less: altering them sends nothing twice.
type announcement struct {
	mailbox   string // as Gmail names it
	messageID string // the Message-ID
	historyID uint64 // from before the first attempt
	until     time.Time
}

// The parameters of an announcement.
const (
	announcedMailbox   = "mailbox"
	announcedMessageID = "rfc_message_id"
	announcedHistoryID = "history_id"
	announcedUntil     = "until"
)

func (n announcement) parameters() postroom.Parameters {
	return postroom.Parameters{
		announcedMailbox: n.mailbox, announcedMessageID: n.messageID, announcedHistoryID: strconv.FormatUint(n.historyID, 10),
		announcedUntil: n.until.UTC().Format(time.RFC3339Nano),
	}
}

// announced returns the announcement of an earlier attempt for the action; ok is false if there is none, or if it has sent
// nothing.
func announced(a postroom.Action) (n announcement, ok bool, err error) {
	if a.UndoHint == nil || a.UndoHint.Announced == nil {
		return n, false, nil
	}
	p := a.UndoHint.Announced
	n.mailbox, _ = p.Text(announcedMailbox)
	n.messageID, _ = p.Text(announcedMessageID)
	historyID, _ := p.Text(announcedHistoryID)
	until, _ := p.Text(announcedUntil)
	n.historyID, err = strconv.ParseUint(historyID, 10, 64)
	if err == nil {
		n.until, err = time.Parse(time.RFC3339Nano, until)
	}
	if err != nil {
		return n, true, refused(a.ID, "what was announced of an earlier attempt cannot be read; look among the sent mail: %w", err)
	}
	return n, true, nil
}

// begun returns the announcement of an earlier attempt whose outcome is unknown. An attempt from before announcements existed is
// only in its row.
func begun(a postroom.Action, m *outboundMessage) (n announcement, ok bool, err error) {
	if n, ok, err = announced(a); ok || err != nil || m == nil || a.ContentSHA256 == "" || m.OpenUntil.IsZero() {
		return n, ok, err
	}
	return announcement{messageID: m.MessageID, historyID: uint64(m.HistoryID), until: m.OpenUntil.Time}, true, nil
}

// profileOf reads the profile of a mailbox, which must have the address, as its own or as an additional one. The row that maps an
// account to its grant is not signed either.
func profileOf(ctx context.Context, client *gmailapi.Client, email string) (gmailapi.Profile, error) {
	profile, err := client.Profile(ctx)
	if err != nil || email == "" || strings.EqualFold(profile.Email, email) {
		return profile, err
	}
	own, err := client.ListSendAs(ctx)
	if err == nil && !isOwn(own, email) {
		err = &gmailapi.Error{Op: "find the mailbox", Class: gmailapi.ClassRefused, Err: fmt.Errorf("the account signs in to %s, and was that of %s", profile.Email, email)}
	}
	return profile, err
}
