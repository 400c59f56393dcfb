package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// An Engine decides by the stored rules: the first rule that matches decides. Before each decision it asks the store
// whether the rules have changed, and if so compiles them again. It is safe for concurrent use. [NewEngine] makes one; the
// zero Engine is unusable.
//
// The engine disables a stored rule that cannot be evaluated, with the reason, in a write transaction of its own. Such a
// rule does not keep the others from deciding.
type Engine struct {
	store *Store
	log   *slog.Logger

	mu       sync.Mutex
	revision int64
	set      *Set // nil until loaded
}

var _ postroom.Decider = (*Engine)(nil)

// EngineConfig configures an [Engine]. It is copied and checked once, by [NewEngine].
type EngineConfig struct {
	// Store holds the rules. Required.
	Store *Store
	// Logger logs the broken rules that are disabled. Default [slog.Default]; a logger with [slog.DiscardHandler] logs
	// nothing.
	Logger *slog.Logger
}

// NewEngine makes an engine; a missing field is an error that names it.
func NewEngine(cfg EngineConfig) (*Engine, error) {
	if err := fields.Required("rules: EngineConfig.Store", cfg.Store, "a store made by NewStore"); err != nil {
		return nil, err
	}
	return &Engine{store: cfg.Store, log: cmp.Or(cfg.Logger, slog.Default())}, nil
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

// cloneParameters copies JSON values, so that no decision shares memory with its rule.
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

// current returns the set of the stored rules.
//
// The revision is read before the rules: a change in between leaves a set that is newer than its revision, and the next
// decision loads it again. In the other order the set would be older than its revision, and would stay.
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

// disable disables a broken rule, unless it has been repaired since it was read. A failure is logged and does not fail the
// decision: the rule is out of the set already, and the next load tries again.
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
