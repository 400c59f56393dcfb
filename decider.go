package postroom

import "context"

// A Decider decides what to do with a message: a rule set, a language model, a test.
//
// Decide returns an error only when it cannot decide, for example because a provider or a database does not answer. A decider
// without an opinion returns a decision with the action [None] and the reason in its rationale.
//
// A decider does not set the Source of the decision, its rule and its Key: the caller does.
type Decider interface {
	Decide(ctx context.Context, msg *Message) (Decision, error)
}

// A DeciderFunc is a function used as a [Decider].
type DeciderFunc func(ctx context.Context, msg *Message) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, msg *Message) (Decision, error) { return f(ctx, msg) }
