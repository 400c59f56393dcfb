package command

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/limits"
)

// ActionFilter makes a filter of actions from the values of flags; one that is not known is a usage error.
func ActionFilter(states, types []string, since string) (safety.Filter, error) {
	var f safety.Filter
	for _, s := range states {
		if s == formerlyPending {
			s = string(postroom.ActionPendingApproval)
		}
		if !slices.Contains(postroom.ActionStates(), postroom.ActionState(s)) {
			return f, usage.Errorf("--state %s: %s", s, suggest.Instead(s, Texts(postroom.ActionStates()), "the states are"))
		}
		f.States = append(f.States, postroom.ActionState(s))
	}
	for _, t := range types {
		if !environment.Kinds.Knows(safety.Undone(postroom.ActionType(t))) {
			return f, usage.Errorf("--type %s: %s", t, suggest.Instead(t, Texts(environment.Kinds.Types()), "the actions are"))
		}
		f.Types = append(f.Types, postroom.ActionType(t))
	}
	var err error
	if since != "" {
		f.Since, err = Ago("since", since, time.Now())
	}
	return f, err
}

// formerlyPending is the former name of the state [postroom.ActionPendingApproval], which people may have in scripts.
const formerlyPending = "approved_pending"

// FilterFlags adds the flags that select actions by their decisions, and returns a function that reads them into a
// filter.
func FilterFlags(cmd *cobra.Command) func() (safety.Filter, error) {
	types := cmd.Flags().StringSlice("type", nil, "only these actions, such as archive")
	rule := cmd.Flags().String("rule", "", "only what this rule decided, by its name or id")
	sources := cmd.Flags().StringSlice("source", nil, "only what was decided so: deterministic (by a rule), llm, host or none")
	sender := cmd.Flags().String("sender", "", "only mail of this address, or of this domain and those below it")
	since := cmd.Flags().String("since", "", "only what is younger, such as 24h or 7d")
	until := cmd.Flags().String("until", "", "only what is older, such as 1h")
	confidence := ConfidenceFlags(cmd)
	batch := cmd.Flags().String("batch", "", "only what one 'postroomd rules apply' or 'mail act' did, by the batch that it names")
	return func() (safety.Filter, error) {
		f, err := ActionFilter(nil, *types, *since)
		if err != nil {
			return f, err
		}
		f.Rule, f.Sender = *rule, *sender
		if f.Confidence, err = confidence(); err != nil {
			return f, err
		}
		if *batch != "" {
			f.KeyPrefix = rules.BatchKey(*batch)
		}
		for _, s := range *sources {
			if !slices.Contains(Sources, s) {
				return f, usage.Errorf("--source %s: %s", s, suggest.Instead(s, Sources, "the sources are"))
			}
			f.Sources = append(f.Sources, postroom.Source(s))
		}
		if *until != "" {
			if f.Until, err = Ago("until", *until, time.Now()); err != nil {
				return f, err
			}
		}
		return f, nil
	}
}

// ConfidenceFlags adds the flags that select by the confidence of decisions, and returns a function that reads them:
// nil without one.
func ConfidenceFlags(cmd *cobra.Command) func() (*safety.Range, error) {
	above := cmd.Flags().Float64("above", 0, "only what was decided with a confidence of at least this, 0 to 1")
	below := cmd.Flags().Float64("below", 1, "only what was decided with a confidence of at most this, 0 to 1")
	return func() (*safety.Range, error) {
		for name, v := range map[string]float64{"above": *above, "below": *below} {
			if !(v >= 0 && v <= 1) {
				return nil, usage.Errorf("--%s is %v; it must be within 0 and 1", name, v)
			}
		}
		switch {
		case *above > *below:
			return nil, usage.Errorf("--above is %v, which is more than --below, %v", *above, *below)
		case cmd.Flags().Changed("above") || cmd.Flags().Changed("below"):
			return &safety.Range{Min: *above, Max: *below}, nil
		}
		return nil, nil //nolint:nilnil // none is no error, and restricts nothing
	}
}

var Sources = Texts([]postroom.Source{postroom.SourceDeterministic, postroom.SourceModel, postroom.SourceHost,
	postroom.SourceNone})

// Ago returns the time that lies as far back as the value of a flag.
func Ago(flag, text string, now time.Time) (time.Time, error) {
	window, err := limits.ParseWindow(text)
	if err != nil {
		return time.Time{}, usage.Errorf(
			"--%s %s: write a whole number from 1 and a unit m, h, d or w, as 24h or 7d, of at most ten years", flag, text)
	}
	return now.Add(-window), nil
}

// CheckFilter returns an error if the filter names a rule or a batch that does not exist and never did. A mistyped
// name would select nothing, like one without actions.
func CheckFilter(ctx context.Context, h *app.App, f safety.Filter) error {
	if err := checkRule(ctx, h, f.Rule); err != nil {
		return err
	}
	return checkBatch(ctx, h, f.KeyPrefix)
}

// checkRule accepts the name or id of a rule, including a deleted rule that has made a decision.
func checkRule(ctx context.Context, h *app.App, rule string) error {
	if rule == "" {
		return nil
	}
	if decided, err := h.Ledger.Decisions(ctx, safety.Filter{Rule: rule, Limit: 1}); err != nil || len(decided) > 0 {
		return err
	}
	stored, err := h.Rules.List(ctx)
	if err != nil || slices.ContainsFunc(stored, func(r rules.Rule) bool { return r.Name == rule || r.ID == rule }) {
		return err
	}
	past, err := h.Ledger.Activity().Summary(ctx, "")
	if err != nil {
		return err
	}
	names := slices.Concat(printer.List(stored, func(r rules.Rule) string {
		return r.Name
	}), slices.Collect(maps.Keys(past.Rules)))
	return usage.Errorf("--rule %s: no rule has this name or id, nor had one that has decided something; %s", rule,
		Instead(rule, names, "the rules are"))
}

// checkBatch accepts the prefix of the keys of a batch's decisions.
func checkBatch(ctx context.Context, h *app.App, prefix string) error {
	if prefix == "" {
		return nil
	}
	if done, err := h.Ledger.Decisions(ctx, safety.Filter{KeyPrefix: prefix, Limit: 1}); err != nil || len(done) > 0 {
		return err
	}
	latest, err := h.Ledger.Decisions(ctx, safety.Filter{KeyPrefix: postroom.BatchKeyPrefix, Limit: 100})
	if err != nil {
		return err
	}
	batch := BatchName(prefix)
	names := printer.List(latest, func(d safety.DecisionRecord) string { return BatchName(d.Decision.Key) })
	return usage.Errorf("--batch %s: no 'postroomd rules apply' or 'mail act' has done anything by this name; %s", batch,
		Instead(batch, names, "the latest are"))
}

// BatchName returns the name of the batch in a decision's key.
func BatchName(key string) string {
	batch, _, _ := strings.Cut(strings.TrimPrefix(key, postroom.BatchKeyPrefix), ":")
	return batch
}

// BatchDone reports whether no action of a batch is left to carry out, by the prefix of the keys of its decisions.
func BatchDone(h *app.App, prefix string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		entries, err := h.Ledger.Actions(ctx, safety.Filter{
			KeyPrefix: prefix, States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionExecuting}, Limit: 1,
		})
		return len(entries) == 0, err
	}
}
