package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
)

// An applyCommand has the flags of 'rules apply'.
type applyCommand struct {
	address *string
	only    []string
	batch   string
	dry     bool
	yes     bool
	again   bool
	asJSON  *bool
}

func rulesApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Do the rules in use to mail that is there, as one batch that can be taken back",
		Long: "Do the rules in use to mail that is there, as if it arrived now: what is dangerous waits for a person, all of it is in the\n" +
			"ledger, and one command takes the batch back, except what was sent or deleted for good. Sent mail, drafts, spam and trash are\n" +
			"left alone, and so is what you have changed by hand since, undone or rejected, and what waits\n" +
			"for you or was sent; --again does that as well. You see how many actions each\n" +
			"rule takes and are asked first.\n\n" +
			"    postroomd rules apply --since 90d --rule Newsletters --dry-run\n" +
			"    postroomd undo --batch BATCH\n\n" +
			"A batch that was interrupted is finished by giving its name again with --batch.",
		Args: cobra.NoArgs,
	}
	a := &applyCommand{address: command.MailboxFlag(cmd)}
	place := command.NewEnvironmentFlags(cmd)
	since := cmd.Flags().String("since", "", "only mail that is younger, such as 24h or 90d")
	until := cmd.Flags().String("until", "", "only mail that is older, such as 7d")
	cmd.Flags().StringArrayVar(&a.only, "rule", nil, "only this rule, by its name; may be given several times")
	cmd.Flags().StringVar(&a.batch, "batch", "",
		"the name of the batch, of letters, digits and hyphens; a new one if left out")
	cmd.Flags().BoolVar(&a.dry, "dry-run", false, "only say what would be done")
	cmd.Flags().BoolVar(&a.again, "again", false, "also what was changed by hand since, or undone")
	cmd.Flags().BoolVar(&a.yes, "yes", false, "do not ask before it is done")
	a.asJSON = command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *a.asJSON && !a.dry && !a.yes {
			return usage.Errorf("--json asks nothing; add --yes to apply the rules, or --dry-run to look only")
		}
		window, err := mailWindow(*since, *until, time.Now())
		if err != nil {
			return err
		}
		begin := command.WithWriter
		if a.dry {
			begin = command.WithReader
		}
		return begin(cmd, place, func(ctx context.Context, h *app.App) error { return a.run(ctx, cmd, h, window) })
	}
	return cmd
}

func (a *applyCommand) run(ctx context.Context, cmd *cobra.Command, h *app.App, window mailstore.MessageRange) error {
	account, err := command.Mailbox(ctx, h, *a.address)
	if err != nil {
		return err
	}
	if err := checkStored(ctx, h, a.only); err != nil {
		return err
	}
	a.dry = a.dry || h.Env.Config.Safety.DryRun // recorded, the batch would be canceled permanently, and its name used up
	apply := func(dry bool) (rules.Applied, error) {
		return h.ApplyRules(ctx, app.Application{AccountID: account.ID, Only: a.only, Since: window.Since,
			Until: window.Until, Batch: a.batch, Again: a.again, DryRun: dry})
	}
	if !a.dry && !a.yes {
		if err := a.confirm(cmd, apply); err != nil {
			return err
		}
	}
	done, err := apply(a.dry)
	a.batch = done.Batch
	switch {
	case err != nil && done.Messages > 0:
		return fmt.Errorf("batch %s is done in part, and --batch %s finishes it%s: %w", a.batch, a.batch,
			printer.Unless(len(done.Actions) == 0, "; "+a.takesBack(done.Actions)), err)
	case err != nil:
		return err
	}
	finished := true
	if !a.dry {
		if finished, err = h.CarryOut(ctx, command.BatchDone(h, rules.BatchKey(a.batch))); err != nil {
			return err
		}
		whole := len(a.only) == 0 && window.Since.IsZero() && window.Until.IsZero()
		if err := countLeft(ctx, h, account, whole); err != nil {
			return err
		}
	}
	if *a.asJSON {
		stopped, err := h.OpenBreakers(ctx)
		if err != nil {
			return err
		}
		return printer.JSON(cmd.OutOrStdout(), view.Applied{
			Batch: a.batch, DryRun: a.dry, Finished: finished, Messages: done.Messages, Matched: done.Matched,
			Actions:      done.Actions,
			Irreversible: irreversible(done.Actions), Rules: done.Rules, AlreadySo: done.AlreadySo,
			LeftAlone: done.LeftAlone, Refused: done.Refused,
			Waiting: done.Waiting, Stopped: stopped,
		})
	}
	if err := a.print(cmd, done, finished); err != nil {
		return err
	}
	return command.PrintBreakers(ctx, h, cmd)
}

// countLeft counts what the rules would still do with the account's old mail, and after all of them were applied to all
// of it notes that nobody is to be asked about it.
func countLeft(ctx context.Context, h *app.App, account mailstore.Account, whole bool) error {
	if stored, err := h.OldMailIsStored(ctx, account); err != nil || !stored {
		return err
	}
	if _, err := h.CountOldMail(ctx, account); err != nil || !whole {
		return err
	}
	return h.AskedAboutOldMail(ctx, account.ID)
}

// confirm shows what would be done, and asks, unless that is nothing.
func (a *applyCommand) confirm(cmd *cobra.Command, apply func(dry bool) (rules.Applied, error)) error {
	would, err := apply(true)
	if err != nil || len(would.Actions) == 0 {
		return err
	}
	shown := *a
	shown.dry = true
	if err := shown.print(cmd, would, true); err != nil {
		return err
	}
	total := 0
	for _, n := range would.Actions {
		total += n
	}
	return command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
		Text: "do " + printer.Count(total, "action", "actions") + "?", Instead: ", or --dry-run to look only",
		Refused: "nothing was done",
	})
}

func (a *applyCommand) print(cmd *cobra.Command, done rules.Applied, finished bool) error {
	out := printer.NewFields(cmd.OutOrStdout())
	if !a.dry {
		out.Add("batch", a.batch)
	}
	out.Add("mail", fmt.Sprintf("%s, %d of them matched", printer.Count(done.Messages, "message", "messages"),
		done.Matched))
	what := map[bool]string{true: "would do", false: "does"}[a.dry]
	for _, action := range slices.Sorted(maps.Keys(done.Actions)) {
		out.Add(what, fmt.Sprintf("%s to %d", action, done.Actions[action]))
	}
	for _, rule := range slices.Sorted(maps.Keys(done.Rules)) {
		out.Add("by rule", fmt.Sprintf("%s: %d", rule, done.Rules[rule]))
	}
	out.Add("already so", done.AlreadySo)
	if done.LeftAlone > 0 {
		out.Add("left alone", printer.Count(done.LeftAlone, "action", "actions")+
			", since you have changed this by hand, undone or rejected it, or it waits or was sent; "+
			"--again does it all the same")
	}
	if done.Refused > 0 {
		out.Add("refused", printer.Count(done.Refused, "names", "name")+" a label that is not there")
	}
	if done.Waiting > 0 {
		out.Add("waiting", printer.Count(done.Waiting, "waits", "wait")+" for a person; see 'postroomd approvals list'")
	}
	if err := out.Flush(); err != nil || a.dry {
		return err
	}
	end := ""
	if !finished {
		end = command.CarriedOutLater
	}
	if text := a.takesBack(done.Actions); text != "" {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s%s\n", text, end)
		return err
	}
	return nil
}

// takesBack describes which actions of the batch can be undone, and how; empty if it has none.
func (a *applyCommand) takesBack(actions map[string]int) string {
	never := irreversible(actions)
	cannot := "cannot be taken back: " + strings.Join(never, ", ")
	back := fmt.Sprintf("'postroomd undo --batch %s' takes it back", a.batch)
	switch {
	case len(actions) == 0:
		return ""
	case len(never) == len(actions):
		return "what it does " + cannot
	case len(never) > 0:
		return back + ", but not what " + cannot
	}
	return back
}

// irreversible returns the actions that cannot be undone, such as sending.
func irreversible(actions map[string]int) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(actions)), func(action string) bool {
		kind, ok := environment.Kinds.Kind(postroom.ActionType(action))
		return !ok || kind.Reversible()
	})
}

// checkStored accepts the names of rules in use.
func checkStored(ctx context.Context, h *app.App, only []string) error {
	stored, err := h.Rules.List(ctx)
	if err != nil {
		return err
	}
	names := printer.List(stored, func(r rules.Rule) string { return r.Name })
	for _, name := range only {
		if !slices.Contains(names, name) {
			return usage.Errorf("--rule %s: no rule has this name; %s", name, command.Instead(name, names, "the rules are"))
		}
	}
	return nil
}
