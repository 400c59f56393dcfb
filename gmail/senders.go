package gmail

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
)

// SenderSeen reports whether the account has received a message from the sender of msg before msg, as package rules asks for its
// condition sender_seen. Spam counts, and so does what has been deleted since. Addresses are compared without regard to the case of
// ASCII letters. A message without a sender has none that was seen. msg need not be stored; one without a time of its arrival
// counts as arriving now.
//
// Only stored messages are known: while a backfill lists the older mail, its senders have yet to be seen.
func (s *Store) SenderSeen(ctx context.Context, msg *postroom.Message) (bool, error) {
	if msg == nil {
		return false, errors.New("gmail: SenderSeen: the message is nil; give the message whose sender is meant")
	}
	sender := dbvalue.Clean(msg.From.Email)
	if sender == "" {
		return false, nil
	}
	at := msg.ReceivedAt
	if at.IsZero() {
		at = time.Now()
	}
	var id string
	err := get(ctx, s.db.Reader(), &id, "messages from "+sender, sqlSenderSeen, msg.AccountID, sender, dbtime.Of(at), msg.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
