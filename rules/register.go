package rules

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// Config configures the handler of [JobClassify]. It is copied and checked once, by [Register].
type Config struct {
	// Messages returns the message to decide about. Required; *mailstore.Store implements it.
	Messages Messages
	// Labels returns the ids of labels. Required; *mailstore.Store implements it.
	Labels Labels
	// Ledger records the decision. Required; *safety.Ledger implements it.
	Ledger Ledger

	// Rules decides first. Required; usually an [Engine].
	Rules postroom.Decider
	// Fallback decides about messages that no rule matches; usually a language model. Its decision is a step of the job,
	// so that a later attempt does not ask again, and is recorded as a model's, whatever Source and rule it names.
	// Default nil: such messages are recorded with action none.
	Fallback postroom.Decider
	// FallbackAge is how old a message may be about which Fallback is asked, by when it was received and when its job was
	// made: waiting for Fallback makes no message older. An older one is recorded with action none. Default 0: any age.
	FallbackAge time.Duration

	// OnFallback is called with the decision of Fallback about a message that [JobClassify] decides about, in the
	// transaction that records it; an error rolls that back. Labels are named in the decision as Fallback names them.
	// Default nil: no call.
	OnFallback func(ctx context.Context, tx queue.Tx, msg *postroom.Message, d postroom.Decision) error

	// Beside returns what is recorded about a new message besides what rules or Fallback have decided, in the same
	// transaction, such as an answer while the owner is away; nil if nothing is. It is called before the transaction, with
	// what was decided. Default nil: nothing is.
	Beside func(ctx context.Context, msg *postroom.Message, decided []postroom.Decision) (
		record func(ctx context.Context, tx queue.Tx) error, err error)

	// Rejected returns an action that a person has rejected, and why, for a [JobDecideAgain]: jobs hold no text. Required
	// for such jobs after a rejection. [postroom.ErrNotFound] cancels the job. Default nil.
	Rejected func(ctx context.Context, actionID string) (postroom.Rejection, error)

	// Kinds are the actions that decisions may have. A decision with another, or with parameters that do not fit, is
	// recorded as none, with a request for approval. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds

	// DryRun receives, in place of the transaction that completes the job, the function that records the decisions about
	// a message, for instance to roll its transaction back. The job ends with the error that it returns, which must not be
	// nil: see [queue.Defer]. Fallback is then no step of the job, so that a later run decides by itself. Default nil: the
	// decisions are recorded.
	DryRun func(ctx context.Context, msg *postroom.Message, record func(ctx context.Context, tx queue.Tx) error) error
}

func (c Config) validate() error {
	return errors.Join(
		c.checkKinds("Config.Ledger", c.Ledger), c.checkKinds("Config.Rules", c.Rules),
		fields.Required("rules: Config.Messages", c.Messages, "the store of messages, such as a *mailstore.Store"),
		fields.Required("rules: Config.Labels", c.Labels, "the store of labels, such as a *mailstore.Store"),
		fields.Required("rules: Config.Ledger", c.Ledger, "the ledger of decisions, such as a *safety.Ledger"),
		fields.Required("rules: Config.Rules", c.Rules, "what decides by rules, such as an Engine"),
		fields.Optional("rules: Config.Fallback", c.Fallback),
	)
}

// checkKinds returns an error if a part that knows its kinds has others.
func (c *Config) checkKinds(name string, part any) error {
	if p, ok := part.(interface{ Kinds() *postroom.Kinds }); ok && fields.Required("", part, "") == nil {
		return fields.Same("rules: Config.Kinds", c.Kinds, name, p.Kinds())
	}
	return nil
}

// Register registers the handlers of [JobClassify] and [JobDecideAgain], with the options. A missing field of the
// configuration is an error that names it, and nothing is registered then.
func Register(d *queue.Dispatcher, cfg Config, opts ...queue.HandlerOption) error {
	if err := errors.Join(fields.Required("rules: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		cfg.validate()); err != nil {
		return err
	}
	c := &classifier{cfg}
	queue.Handle(d, JobClassify, c.handle, opts...)
	queue.Handle(d, JobDecideAgain, c.decideAgain, opts...)
	return nil
}

// A classifier is the handler of [JobClassify] and [JobDecideAgain], which a [Classifier] shares.
type classifier struct{ cfg Config }
