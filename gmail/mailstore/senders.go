package mailstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

// senderKeyColumn is the column from_key: the address as it is compared, or NULL where that is the address in lower case, which both
// databases can make themselves: where it is ASCII.
func senderKeyColumn(email string) sql.NullString {
	notASCII := strings.IndexFunc(email, func(r rune) bool { return r > unicode.MaxASCII }) >= 0
	return sql.NullString{String: mailname.Address(email), Valid: notASCII}
}

// fillSenderKeys makes the keys of messages that were stored before keys existed, or since by an older daemon.
func fillSenderKeys(ctx context.Context, db queue.DB) error {
	for filled := keyBatch; filled == keyBatch; {
		var rows []struct {
			ID    string `db:"id"`
			Email string `db:"from_email"`
		}
		if err := dbquery.Select(ctx, db.Reader(), &rows, sqlUnkeyed, keyBatch); err != nil {
			return fmt.Errorf("gmail: senders without keys: %w", err)
		}
		if filled = len(rows); filled == 0 {
			return nil
		}
		err := db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			for _, r := range rows {
				if _, err := maildb.Exec(ctx, tx, "sender of message "+r.ID, sqlSetSenderKey, senderKeyColumn(r.Email), r.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keyBatch is how many keys a transaction makes.
const keyBatch = 500

// SenderSeen reports whether the account has received a message from the sender of msg before msg, as package rules requires for
// its condition sender_seen. Spam counts, and so do messages deleted since. Addresses are compared without regard to the case of
// ASCII letters, and international domains in their ASCII form. A message without a sender is never seen. msg need not be stored;
// a message without an arrival time counts as arriving now.
//
// Only stored messages are known: while a backfill lists the older mail, its senders are yet to be seen.
func (s *Store) SenderSeen(ctx context.Context, msg *postroom.Message) (bool, error) {
	if msg == nil {
		return false, errors.New("gmail: SenderSeen: the message is nil; give the message whose sender is meant")
	}
	sender := mailname.Address(dbvalue.Clean(msg.From.Email))
	if sender == "" {
		return false, nil
	}
	at := msg.ReceivedAt
	if at.IsZero() {
		at = time.Now()
	}
	var id string
	err := maildb.Get(ctx, s.db.Reader(), &id, "messages from "+sender, sqlSenderSeen, msg.AccountID, sender, dbtime.Of(at), msg.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return s.seenUnkeyed(ctx, msg.AccountID, sender, dbtime.Of(at), msg.ID)
	}
	return err == nil, err
}

// seenUnkeyed looks for the sender among the messages that an older daemon, which runs beside this one, has stored without keys. The next
// call of [Migrate] gives them theirs; nearly always there are none.
func (s *Store) seenUnkeyed(ctx context.Context, accountID, sender string, at dbtime.Time, messageID string) (bool, error) {
	var emails []string
	if err := dbquery.Select(ctx, s.db.Reader(), &emails, sqlUnkeyedSenders, accountID, at, messageID); err != nil {
		return false, fmt.Errorf("gmail: senders without keys: %w", err)
	}
	return slices.ContainsFunc(emails, func(email string) bool { return mailname.Address(email) == sender }), nil
}
