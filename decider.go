package postroom

import "context"

// A Decider looks at a message and decides what to do with it: a rule set, a language model, a test.
//
// It returns an error only when it could not decide (a provider that is down, a database that does not answer). Not
// having an opinion is a decision too: action [None], with the reason in its rationale.
type Decider interface {
	Decide(ctx context.Context, msg *Message) (Decision, error)
}

// DeciderFunc makes a [Decider] of a function.
type DeciderFunc func(ctx context.Context, msg *Message) (Decision, error)

// Decide calls f.
func (f DeciderFunc) Decide(ctx context.Context, msg *Message) (Decision, error) { return f(ctx, msg) }
