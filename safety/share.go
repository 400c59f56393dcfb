package safety

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/injection"
	"github.com/postroom-go/postroom/safety/internal/counts"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/origin"
)

// A seenMail is what the reading of a message found, before the transaction that records a decision about it.
type seenMail struct {
	indicators []injection.Indicator // of an attack, if a model decides
	origin     origin.Origin
	known      bool // the user has written to the sender; false if nobody needs to know
}

// known reports whether the user has written to the sender of a message, who shares a bound with others.
func (j *judge) known(ctx context.Context, msg *postroom.Message, from origin.Origin) (bool, error) {
	if j.cfg.Correspondents == nil || from.Mailbox == "" {
		return false, nil
	}
	known, err := j.cfg.Correspondents.WrittenTo(ctx, msg.AccountID, msg.From.Email)
	if err != nil {
		return false, fmt.Errorf("safety: ask whether the user has written to the sender of message %s: %w", msg.ID, err)
	}
	return known, nil
}

// modelDoubts are the reasons to ask a person about a model's decision.
func (j *judge) modelDoubts(
	ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, seen seenMail,
) ([]gate.Doubt, error) {
	if d.Action == postroom.None || j.cfg.Kinds.Check(d.Action, d.Parameters, queue.Now(tx).Local()) != nil {
		return nil, nil //nolint:nilerr // what cannot be carried out does nothing
	}
	doubts, err := j.capabilityDoubts(ctx, tx, msg, d)
	if err != nil {
		return nil, err
	}
	judging := j.gateOf(accountIn(msg))
	doubts = append(judging.AloneDoubts(d, queue.Now(tx).Local()), doubts...)
	if msg == nil {
		return doubts, nil
	}
	for _, i := range seen.indicators {
		doubts = append(doubts, gate.Doubt{Check: gate.Override(i.Kind), Reason: i.Reason})
	}
	if seen.origin.Notice {
		doubts = append(doubts, judging.NoticeDoubts(d)...)
	}
	if len(doubts) > 0 || !slices.Contains(judging.Hiding(), d.Action) {
		return doubts, nil // a decision that waits anyway does not use up the share
	}
	doubt, err := j.shareDoubt(ctx, tx, msg.AccountID, seen.origin)
	if err != nil || doubt == nil {
		return nil, err
	}
	return []gate.Doubt{*doubt}, nil
}

// shareWindow is the window of ModelShare.
const shareWindow = 24 * time.Hour

// shareDoubt asks a person when models have used up their share of the account's messages within the window. The mail
// of lists is in no share.
func (j *judge) shareDoubt(ctx context.Context, tx queue.Tx, accountID string, from origin.Origin) (
	*gate.Doubt, error) {
	if from.Name == origin.List {
		return nil, nil
	}
	if err := limits.Lock(ctx, tx, accountID); err != nil {
		return nil, err
	}
	judging := j.gateOf(accountID)
	senders, err := j.counts.BySender(ctx, tx, accountID, judging.Hiding(), queue.Now(tx).Add(-shareWindow))
	if err != nil {
		return nil, err
	}
	taken, base := shareOf(senders)
	policy := judging.Policy()
	if taken < max(policy.ModelFree, int(policy.ModelShare*float64(base))) {
		return nil, nil
	}
	return &gate.Doubt{Check: gate.OverrideShare, Reason: fmt.Sprintf("models have taken %d messages that no list sends out of the inbox "+
		"within a day, and %d came that count", taken, base)}, nil
}

// senderShare is the part of each sender in what a share is of: more mail of one sender does not raise it.
const senderShare = 10

// shareOf returns how many messages models have taken, and of how many that is a share.
func shareOf(senders []counts.Sender) (taken, base int) {
	all := 0
	for _, s := range senders {
		all += s.Decided
	}
	for _, s := range senders {
		taken += s.Taken
		base += min(s.Decided, max(1, all/senderShare))
	}
	return taken, base
}
