package telemetry

import (
	"context"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A Decide decides about a message at once, as that of the configuration of package gmail does.
type Decide func(ctx context.Context, msg *postroom.Message) (record func(ctx context.Context, tx queue.Tx) error,
	err error)

// Decide reports the classification of a message that is decided about while it is received. What is left to a job is
// reported by that.
func (t *Telemetry) Decide(next Decide) Decide {
	return func(ctx context.Context, msg *postroom.Message) (func(ctx context.Context, tx queue.Tx) error, error) {
		if !t.heeded(ctx, classify) {
			return next(ctx, msg)
		}
		made, began := &decisions{}, time.Now()
		record, err := next(context.WithValue(ctx, decisionsKey{}, made), msg)
		if record != nil || err != nil {
			ctx, w := t.start(ctx, classify, began, keyAccount.String(msg.AccountID), keyProvider.String(msg.ProviderID))
			w.decided(made)
			w.end(ctx, err)
		}
		return record, err
	}
}

// decisionsKey is the key of the decisions of a classification in its context.
type decisionsKey struct{}

// decisions are those about one message.
type decisions struct {
	first postroom.Decision
	count int
}

// Ledger reports the decisions that are recorded within the classification of a message.
func (t *Telemetry) Ledger(next rules.Ledger) rules.Ledger { return ledger{next} }

type ledger struct{ rules.Ledger }

func (l ledger) Record(ctx context.Context, msg *postroom.Message, d postroom.Decision) func(ctx context.Context,
	tx queue.Tx) (postroom.Action, error) {
	note(ctx, &d)
	return l.Ledger.Record(ctx, msg, d)
}

func (l ledger) Refuse(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision, reason string) (
	postroom.Action, error) {
	note(ctx, &d)
	return l.Ledger.Refuse(ctx, tx, msg, d, reason)
}

func note(ctx context.Context, d *postroom.Decision) {
	made, ok := ctx.Value(decisionsKey{}).(*decisions)
	if !ok {
		return
	}
	if made.count++; made.count == 1 {
		made.first = *d
	}
}
