package mailstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/mailname"
)

// senderKeyColumn is the column from_key: the address as it is compared, or NULL where that is the address in lower
// case, which both databases can make themselves: where it is ASCII.
func senderKeyColumn(email string) sql.NullString {
	notASCII := strings.IndexFunc(email, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
	return sql.NullString{String: mailname.Address(email), Valid: notASCII}
}

// SenderSeen reports whether the account has received a message from the sender of msg before msg, as package rules
// requires for its condition sender_seen. Spam counts, and so do messages deleted since. Addresses are compared without
// regard to the case of ASCII letters, and international domains in their ASCII form. A message without a sender is
// never seen, nor is one in [InsertedDomain]. msg need not be stored; a message without an arrival time counts as
// arriving now.
//
// Only stored messages are known: while a backfill lists the older mail, its senders are yet to be seen. Package
// senders asks Gmail about them.
func (s *Store) SenderSeen(ctx context.Context, msg *postroom.Message) (bool, error) {
	n, err := s.CountEarlier(ctx, msg, 1)
	return n > 0, err
}

// CountEarlier counts the messages of the sender of msg that the account has received before msg, up to most of them,
// under the rules of SenderSeen.
func (s *Store) CountEarlier(ctx context.Context, msg *postroom.Message, most int) (n int, err error) {
	if msg == nil {
		return 0, errors.New("gmail: messages of a sender: the message is nil; give the message whose sender is meant")
	}
	sender := mailname.Address(dbvalue.Clean(msg.From.Email))
	if sender == "" || isInserted(sender) {
		return 0, nil
	}
	at := msg.ReceivedAt
	if at.IsZero() {
		at = time.Now()
	}
	err = maildb.Get(ctx, s.db.Reader(), &n, "messages from "+sender, sqlCountEarlier, msg.AccountID, sender,
		dbtime.Of(at), msg.ID, most)
	return n, err
}
