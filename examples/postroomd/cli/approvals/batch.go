package approvals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// A batch selects requests to answer together, by ids or by their properties.
type batch struct {
	allOf     string
	olderThan string
	kinds     []string
	group     string
	dryRun    bool
	yes       bool

	verb   string // approve or reject
	answer func(ctx context.Context, h *app.App, tx queue.Tx, shown safety.Approval) error
}

func (b *batch) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&b.allOf, "all-of", "", "in place of ids: all that this rule decided, by its name or id")
	flags.StringVar(&b.olderThan, "older-than", "",
		"in place of ids: all that has waited longer than this, such as 24h or 7d")
	flags.StringSliceVar(&b.kinds, "kind", nil, "in place of ids: all of these actions, such as delete")
	flags.StringVar(&b.group, "group", "", "in place of ids: all requests of this group, see 'postroomd approvals list'")
	flags.BoolVar(&b.dryRun, "dry-run", false, "only list what would be answered")
	flags.BoolVar(&b.yes, "yes", false, "do not ask before all that --all-of, --older-than, --kind and --group choose is answered")
}

// chooses reports whether flags choose the requests.
func (b *batch) chooses() bool {
	return b.allOf != "" || b.olderThan != "" || len(b.kinds) > 0 || b.group != ""
}

// Check returns an error if the flags are ambiguous.
func (b *batch) check(ids []string) error {
	switch {
	case len(ids) == 0 && !b.chooses():
		return usage.Errorf("give the ids of the actions to %s, or choose them with --all-of, --older-than, --kind or --group", b.verb)
	case len(ids) > 0 && b.chooses():
		return usage.Errorf(
			"ids name the actions to %s, and --all-of, --older-than, --kind and --group choose them; use one or the other", b.verb)
	}
	return nil
}

// run answers the selected requests separately, in the versions that were listed.
func (b *batch) run(ctx context.Context, cmd *cobra.Command, h *app.App, ids []string) error {
	chosen, err := b.choose(ctx, cmd, h, ids)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "nothing waits that is chosen")
		return err
	}
	if b.dryRun || b.chooses() && !b.yes {
		if err := previewAnswers(ctx, h, cmd.OutOrStdout(), chosen); err != nil || b.dryRun {
			return err
		}
		if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
			Text: b.verb + " " + printer.Count(len(chosen), "action", "actions") + "?", Instead: ", or --dry-run to look only",
			Refused: "nothing was answered",
		}); err != nil {
			return err
		}
	}
	return b.answerAll(ctx, cmd, h, chosen)
}

// Choose returns the requests, oldest first. It composes their content before, so that the listed version is the one
// that is answered.
func (b *batch) choose(ctx context.Context, cmd *cobra.Command, h *app.App, ids []string) ([]safety.Waiting, error) {
	if len(ids) > 0 {
		return namedRequests(ctx, cmd, h, ids, b.verb == "approve")
	}
	filter := safety.Filter{Rule: b.allOf, Group: b.group, Limit: 100}
	for _, kind := range b.kinds {
		if !environment.Kinds.Knows(postroom.ActionType(kind)) {
			return nil, usage.Errorf("--kind %s: %s", kind, suggest.Instead(kind, command.Texts(environment.Kinds.Types()),
				"the actions are"))
		}
		filter.Types = append(filter.Types, postroom.ActionType(kind))
	}
	before := time.Now()
	if b.olderThan != "" {
		var err error
		if before, err = command.Ago("older-than", b.olderThan, before); err != nil {
			return nil, err
		}
	}
	found, err := allWaiting(ctx, h, filter)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(w safety.Waiting) bool { return !w.Approval.RequestedAt.Before(before) })
	if b.verb != "approve" {
		return found, nil
	}
	var named []string
	for _, w := range found {
		named = append(named, w.Action.ID)
	}
	return namedRequests(ctx, cmd, h, named, true)
}

// namedRequests returns the requests about waiting actions, without duplicates. To compose many takes a while, since
// Gmail is read within its quota.
func namedRequests(ctx context.Context, cmd *cobra.Command, h *app.App, ids []string,
	compose bool) ([]safety.Waiting, error) {
	var list []safety.Waiting
	shown := io.Discard
	if compose && len(ids) > 1 {
		shown = cmd.ErrOrStderr()
	}
	bar := printer.NewProgress(shown).Start("Composing", len(ids))
	defer bar.Done()
	for i, id := range ids {
		w, err := h.WaitingRequest(ctx, id)
		if err == nil && compose {
			w, err = composed(ctx, h, w.Action.ID)
		}
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(other safety.Waiting) bool { return other.Action.ID == w.Action.ID }) {
			list = append(list, w)
		}
		bar.Set(i + 1)
	}
	return list, nil
}

// composed returns a request whose content is fixed.
func composed(ctx context.Context, h *app.App, id string) (safety.Waiting, error) {
	err := command.WithinQuota(ctx, func(ctx context.Context) error { return h.FreezeContent(ctx, id) })
	if err != nil {
		return safety.Waiting{}, err
	}
	return h.WaitingRequest(ctx, id)
}

// allWaiting returns all requests that the filter selects, oldest first.
func allWaiting(ctx context.Context, h *app.App, filter safety.Filter) ([]safety.Waiting, error) {
	var list []safety.Waiting
	for {
		page, err := h.Ledger.Approvals(ctx, filter)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if len(page) < filter.Limit {
			slices.Reverse(list)
			return list, nil
		}
		filter.Before = page[len(page)-1].Action.ID
	}
}

func previewAnswers(ctx context.Context, h *app.App, out io.Writer, chosen []safety.Waiting) error {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	t := printer.NewTable(out, "ID", "ACTION", "BY", "FROM", "SUBJECT", "ASKED")
	for _, w := range chosen {
		t.Row(printer.ShortID(w.Action.ID), app.Describe(w.Action, names), view.DecidedBy(w.Decision.Decision),
			printer.Short(w.Decision.Sender, 30), printer.Short(w.Decision.Subject, 50), printer.Minute(w.Approval.RequestedAt))
	}
	return t.Flush("")
}

// answerAll answers each request in a separate transaction: a request that was answered meanwhile, or has expired,
// does not block the others.
func (b *batch) answerAll(ctx context.Context, cmd *cobra.Command, h *app.App, chosen []safety.Waiting) error {
	var answered []string
	var refusals []error
	if b.group != "" {
		slices.Reverse(chosen) // the first last: nobody is asked about one that is answered next
	}
	for _, w := range chosen {
		err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return b.answer(ctx, h, tx, w.Approval) })
		switch {
		case err == nil:
			answered = append(answered, w.Action.ID)
		case errors.Is(err, safety.ErrState), errors.Is(err, safety.ErrApprovalVoid),
			errors.Is(err, safety.ErrApprovalExpired), errors.Is(err, safety.ErrInvalidDecision):
			refusals = append(refusals, err)
		default:
			return err
		}
	}
	done, err := h.CarryOut(ctx, func(ctx context.Context) (bool, error) { return allSettled(ctx, h, answered) })
	if err != nil {
		return err
	}
	for _, id := range answered {
		rest, err := whyLater(ctx, h, id, done)
		if err == nil {
			err = printOutcome(ctx, h, cmd, id, rest)
		}
		if err != nil {
			refusals = append(refusals, err)
		}
	}
	if len(refusals) > 0 {
		return usage.Errorf("%d of %d were answered: %w", len(answered), len(chosen), errors.Join(refusals...))
	}
	return nil
}
