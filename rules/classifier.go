package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Classifier decides about a message while it is being stored, as [JobClassify] does later, and spares that job. It
// decides where rules alone can; where a rule asks about other messages or a model is to decide, the job does. It is
// safe for concurrent use. [NewClassifier] makes one; the zero Classifier is unusable.
type Classifier struct{ classifier }

// NewClassifier makes a classifier with the configuration that [Register] is given; a missing field is an error that
// names it.
func NewClassifier(cfg Config) (*Classifier, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Classifier{classifier{cfg}}, nil
}

// An unstoredDecider may decide about a message from its content, as [Engine] does.
type unstoredDecider interface {
	DecideUnstored(ctx context.Context, msg *postroom.Message) (decisions []postroom.Decision, ok bool, err error)
}

// Decide decides about a message that is not stored yet, and returns the function that records the decisions. Call
// record in the transaction that stores the message, when it has its ids: the ledger checks there that the rules are
// unchanged. If the decision must wait for [JobClassify], record is nil, and the caller must enqueue that job. Decide
// is for the field Decide of the configuration of package gmail. Do not call it inside a write transaction.
func (c *Classifier) Decide(ctx context.Context, msg *postroom.Message) (record func(ctx context.Context,
	tx queue.Tx) error, err error) {
	rules, ok := c.cfg.Rules.(unstoredDecider)
	if !ok {
		return nil, nil
	}
	decisions, ok, err := rules.DecideUnstored(ctx, msg)
	if err == nil && ok && c.final(msg, time.Now(), decisions) {
		record, err = c.prepare(ctx, msg, decisions)
	}
	if err != nil {
		return nil, fmt.Errorf("classify: %w", err)
	}
	return record, nil
}
