package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
	"github.com/postroom-go/postroom/undo"
)

// checkFilter returns an error if the filter names a rule or a batch that does not exist and never did. A mistyped name would
// select nothing, like one without actions.
func (h *host) checkFilter(ctx context.Context, f safety.Filter) error {
	if err := h.checkRule(ctx, f.Rule); err != nil {
		return err
	}
	return h.checkBatch(ctx, f.KeyPrefix)
}

// checkRule accepts the name or id of a rule, including a deleted rule that has made a decision.
func (h *host) checkRule(ctx context.Context, rule string) error {
	if rule == "" {
		return nil
	}
	if decided, err := h.ledger.Decisions(ctx, safety.Filter{Rule: rule, Limit: 1}); err != nil || len(decided) > 0 {
		return err
	}
	stored, err := h.rules.List(ctx)
	if err != nil || slices.ContainsFunc(stored, func(r rules.Rule) bool { return r.Name == rule || r.ID == rule }) {
		return err
	}
	past, err := h.ledger.Summary(ctx, "")
	if err != nil {
		return err
	}
	names := slices.Concat(printer.List(stored, func(r rules.Rule) string { return r.Name }), slices.Collect(maps.Keys(past.Rules)))
	return usage.Errorf("--rule %s: no rule has this name or id, nor had one that has decided something; %s", rule, instead(rule, names, "the rules are"))
}

// checkStored accepts the names of rules in use.
func (h *host) checkStored(ctx context.Context, only []string) error {
	stored, err := h.rules.List(ctx)
	if err != nil {
		return err
	}
	names := printer.List(stored, func(r rules.Rule) string { return r.Name })
	for _, name := range only {
		if !slices.Contains(names, name) {
			return usage.Errorf("--rule %s: no rule has this name; %s", name, instead(name, names, "the rules are"))
		}
	}
	return nil
}

// checkBatch accepts the prefix of the keys of a batch's decisions.
func (h *host) checkBatch(ctx context.Context, prefix string) error {
	if prefix == "" {
		return nil
	}
	if done, err := h.ledger.Decisions(ctx, safety.Filter{KeyPrefix: prefix, Limit: 1}); err != nil || len(done) > 0 {
		return err
	}
	latest, err := h.ledger.Decisions(ctx, safety.Filter{KeyPrefix: postroom.BatchKeyPrefix, Limit: 100})
	if err != nil {
		return err
	}
	batch := batchOf(prefix)
	names := printer.List(latest, func(d safety.DecisionRecord) string { return batchOf(d.Decision.Key) })
	return usage.Errorf("--batch %s: no 'postroomd rules apply' has done anything by this name; %s", batch,
		instead(batch, names, "the latest are"))
}

// batchOf returns the name of the batch in a decision's key.
func batchOf(key string) string {
	batch, _, _ := strings.Cut(strings.TrimPrefix(key, postroom.BatchKeyPrefix), ":")
	return batch
}

// jobTypes are the types with a handler in this program.
var jobTypes = []string{
	string(gmail.JobBackfill), string(gmail.JobHistorySync), string(gmail.JobLabelsSync), string(gmail.JobIngest), string(gmail.JobAction),
	string(gmail.JobOutboundSend), string(gmail.JobReconcile), string(gmail.JobWatch), string(gmail.JobUnsnooze), string(gmail.JobIndex),
	string(rules.JobClassify), string(undo.JobAction), string(discord.JobNotify), string(discord.JobExpire), string(discord.JobDigest),
	string(webhook.JobDeliver), string(jobPruneModels),
}

// noteUnknownTypes prints a note for each unknown type without jobs, which may be mistyped. It is not an error: another program
// on the database may have registered the type.
func (h *host) noteUnknownTypes(ctx context.Context, cmd *cobra.Command, types []string) error {
	for _, t := range types {
		if slices.Contains(jobTypes, t) {
			continue
		}
		jobs, err := h.queue.Jobs(ctx, queue.Filter{Types: []string{t}, Limit: 1})
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			cmd.PrintErrf("no job has the type %s; %s\n", printer.Printable(t), suggest.Instead(t, jobTypes, "those of postroomd are"))
		}
	}
	return nil
}

// instead suggests names in place of an unknown one: the nearest, or all existing ones.
func instead(word string, names []string, all string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	switch near := suggest.Nearest(word, names); {
	case near != "":
		names = []string{near}
	case len(names) == 0:
		return "there are none"
	case len(names) > mostNamed:
		names = append(names[:mostNamed:mostNamed], fmt.Sprintf("and %d more", len(names)-mostNamed))
	}
	return suggest.Instead(word, names, all)
}
