package rules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// An Engine decides by the stored rules: the first that matches counts. It compiles them when they have changed, which
// it asks the store before each decision, and is safe for use by several goroutines.
//
// A stored rule that cannot be evaluated is disabled with the reason, in a write transaction of the engine's own, and
// never keeps the others from deciding.
type Engine struct {
	store *Store
	log   *slog.Logger

	mu       sync.Mutex
	revision int64
	set      *Set // nil until loaded
}

var _ postroom.Decider = (*Engine)(nil)

// NewEngine makes an engine of a store; a nil logger means silence.
func NewEngine(store *Store, log *slog.Logger) *Engine {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Engine{store: store, log: log}
}

// Decide returns the decision of the first matching rule, or action none and source none when there is none. It fails
// only when the rules cannot be read. Do not call it inside a write transaction.
func (e *Engine) Decide(ctx context.Context, msg *postroom.Message) (postroom.Decision, error) {
	set, err := e.current(ctx)
	if err != nil {
		return postroom.Decision{}, err
	}
	return set.Decide(msg, time.Now()), nil
}

// Decide returns the decision of the first matching rule, or action none and source none when there is none.
func (s *Set) Decide(msg *postroom.Message, now time.Time) postroom.Decision {
	rule, ok := s.First(msg, now)
	if !ok {
		return postroom.Decision{
			Action: postroom.None, Confidence: 1, Source: postroom.SourceNone,
			Rationale: "No deterministic rule matched",
		}
	}
	return postroom.Decision{
		Action:     rule.Action,
		Parameters: cloneParameters(rule.Parameters),
		Confidence: 1,
		Rationale:  fmt.Sprintf("Matched deterministic rule '%s' (priority %d)", rule.Name, rule.Priority),
		Explanations: postroom.Explanations{
			SalientFeatures: []string{rule.Condition.String()},
		},
		Source:   postroom.SourceDeterministic,
		RuleID:   rule.ID,
		RuleName: rule.Name,
		SafeMode: rule.SafeMode,
	}
}

// cloneParameters copies what JSON can hold, so that no decision shares anything with its rule.
func cloneParameters(p postroom.Parameters) postroom.Parameters {
	copied := make(postroom.Parameters, len(p))
	for name, value := range p {
		copied[name] = cloneJSON(value)
	}
	return copied
}

func cloneJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return map[string]any(cloneParameters(v))
	case []any:
		copied := make([]any, len(v))
		for i, value := range v {
			copied[i] = cloneJSON(value)
		}
		return copied
	default:
		return v
	}
}

// current is the set of the rules as they are now.
//
// The revision is read before the rules: a change in between leaves a set that is newer than its revision, which the
// next decision loads again. The other way round it would be older, and stay.
func (e *Engine) current(ctx context.Context) (*Set, error) {
	revision, err := e.store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set != nil && e.revision >= revision {
		return e.set, nil
	}
	rules, err := selectRules(ctx, e.store.db.Reader(), sqlEnabled)
	if err != nil {
		return nil, err
	}
	e.set, e.revision = NewSet(rules), revision
	for _, b := range e.set.broken {
		e.disable(ctx, b)
	}
	return e.set, nil
}

// disable takes a broken rule out of service, unless it has been mended since it was read. A failure is not the
// message's: the rule is out of the set already, and the next load tries again.
func (e *Engine) disable(ctx context.Context, b Broken) {
	err := e.store.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return e.store.change(ctx, tx, b.Rule.ID, func(r *Rule) error {
			fault := r.Validate()
			if fault == nil || !r.Enabled {
				return nil
			}
			return disable(ctx, tx, r, fault.Error())
		})
	})
	switch {
	case errors.Is(err, postroom.ErrNotFound):
	case err != nil:
		e.log.ErrorContext(ctx, "a broken rule could not be disabled", "rule", b.Rule.Name, "rule_id", b.Rule.ID, "fault", b.Err, "error", err)
	default:
		e.log.WarnContext(ctx, "disabled a broken rule", "rule", b.Rule.Name, "rule_id", b.Rule.ID, "fault", b.Err)
	}
}
