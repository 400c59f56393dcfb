package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

func actionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "List what was done, or is to be done, newest first",
		Args:  cobra.NoArgs,
	}
	place := placeFlag(cmd)
	states := cmd.Flags().StringSlice("state", nil, "only these states, such as completed or failed")
	types := cmd.Flags().StringSlice("type", nil, "only these actions, such as archive; undo_archive is its undo")
	sender := cmd.Flags().String("sender", "", "only mail of this address, or of this domain and those below it")
	since := cmd.Flags().String("since", "", "only what is younger, such as 24h or 7d")
	limit := limitFlag(cmd, mostListed)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := actionFilter(*states, *types, *since)
		if err != nil {
			return err
		}
		filter.Sender, filter.Limit = *sender, *limit
		return look(cmd, place, func(ctx context.Context, h *host) error {
			entries, err := h.ledger.Actions(ctx, filter)
			if err != nil {
				return err
			}
			names, err := h.labelNames(ctx)
			if err != nil {
				return err
			}
			if err := h.nameGone(ctx, names, entries); err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(entries, func(e safety.Entry) actionView { return viewAction(e, names) }))
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "ACTION", "STATE", "BY", "FROM", "SUBJECT")
			for _, e := range entries {
				t.Row(e.Action.ID, describe(e.Action, names), e.Action.State, decidedBy(e.Decision.Decision), printer.Short(e.Decision.Sender, 30), printer.Short(e.Decision.Subject, 50))
			}
			return t.Flush("no actions")
		})
	}
	return cmd
}

func actionFilter(states, types []string, since string) (safety.Filter, error) {
	var f safety.Filter
	for _, s := range states {
		if !slices.Contains(actionStates, postroom.ActionState(s)) {
			return f, usage.Errorf("--state %s: %s", s, suggest.Instead(s, texts(actionStates), "the states are"))
		}
		f.States = append(f.States, postroom.ActionState(s))
	}
	for _, t := range types {
		if !environment.Kinds.Knows(safety.Undone(postroom.ActionType(t))) {
			return f, usage.Errorf("--type %s: %s", t, suggest.Instead(t, texts(environment.Kinds.Types()), "the actions are"))
		}
		f.Types = append(f.Types, postroom.ActionType(t))
	}
	var err error
	if since != "" {
		f.Since, err = ago("since", since, time.Now())
	}
	return f, err
}

// filterFlags adds the flags that select actions by their decisions, and returns a function that reads them into a filter.
func filterFlags(cmd *cobra.Command) func() (safety.Filter, error) {
	types := cmd.Flags().StringSlice("type", nil, "only these actions, such as archive")
	rule := cmd.Flags().String("rule", "", "only what this rule decided, by its name or id")
	sources := cmd.Flags().StringSlice("source", nil, "only what was decided so: deterministic (by a rule), llm or none")
	sender := cmd.Flags().String("sender", "", "only mail of this address, or of this domain and those below it")
	since := cmd.Flags().String("since", "", "only what is younger, such as 24h or 7d")
	until := cmd.Flags().String("until", "", "only what is older, such as 1h")
	batch := cmd.Flags().String("batch", "", "only what one 'postroomd rules apply' did, by the batch that it names")
	return func() (safety.Filter, error) {
		f, err := actionFilter(nil, *types, *since)
		if err != nil {
			return f, err
		}
		f.Rule, f.Sender = *rule, *sender
		if *batch != "" {
			f.KeyPrefix = rules.BatchKey(*batch)
		}
		for _, s := range *sources {
			if !slices.Contains(sourceNames, s) {
				return f, usage.Errorf("--source %s: %s", s, suggest.Instead(s, sourceNames, "the sources are"))
			}
			f.Sources = append(f.Sources, postroom.Source(s))
		}
		if *until != "" {
			if f.Until, err = ago("until", *until, time.Now()); err != nil {
				return f, err
			}
		}
		return f, nil
	}
}

var sourceNames = texts([]postroom.Source{postroom.SourceDeterministic, postroom.SourceModel, postroom.SourceNone})

// texts returns values as a person types them.
func texts[T ~string](values []T) []string {
	return printer.List(values, func(v T) string { return string(v) })
}

var actionStates = []postroom.ActionState{
	postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionCompleted, postroom.ActionFailed,
	postroom.ActionCanceled, postroom.ActionRejected, postroom.ActionApprovedPending,
}

// describe returns an action with its label.
func describe(a postroom.Action, names labelNames) string {
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
		return string(a.Type) + " " + names.name(a.AccountID, label)
	}
	return string(a.Type)
}

func decidedBy(d postroom.Decision) string {
	if d.RuleName != "" {
		return d.RuleName
	}
	return string(d.Source)
}
