package backtest

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/rules"
)

// SendersOf reads messages and returns who had written before each of them, for a backtest of mail that is in no
// store. It keeps the time of each sender's first message. A message without a known time comes after all others.
func SendersOf(ctx context.Context, messages iter.Seq2[*postroom.Message, error]) (rules.Senders, error) {
	first := firstMessages{}
	for msg, err := range messages {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("read the senders of messages: %w", err)
		}
		if msg == nil || msg.From.Email == "" || msg.ReceivedAt.IsZero() {
			continue
		}
		key := senderOf(msg)
		if at, known := first[key]; !known || msg.ReceivedAt.Before(at) {
			first[key] = msg.ReceivedAt
		}
	}
	return first, nil
}

// firstMessages are when each sender has first written to each account.
type firstMessages map[senderKey]time.Time

type senderKey struct{ account, address string }

func senderOf(msg *postroom.Message) senderKey {
	return senderKey{msg.AccountID, mailname.Address(msg.From.Email)}
}

// SenderSeen reports whether a message of the sender was received before msg.
func (f firstMessages) SenderSeen(_ context.Context, msg *postroom.Message) (bool, error) {
	at, known := f[senderOf(msg)]
	return known && (msg.ReceivedAt.IsZero() || at.Before(msg.ReceivedAt)), nil
}
