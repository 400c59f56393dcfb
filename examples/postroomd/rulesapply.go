package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// An applyCommand has the flags of 'rules apply'.
type applyCommand struct {
	address *string
	only    []string
	batch   string
	dry     bool
	asJSON  *bool
}

func rulesApply() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "apply",
		Short: "Do the rules in use to mail that is there, as one batch that can be taken back",
		Long: "Do the rules in use to mail that is there, as if it arrived now: what is dangerous waits for a person, all of it is in the\n" +
			"ledger, and one command takes the batch back, except what was sent or deleted for good. Sent mail, drafts, spam and trash are\n" +
			"left alone.\n\n" +
			"    postroomd rules apply --since 90d --rule Newsletters --dry-run\n" +
			"    postroomd undo --batch BATCH\n\n" +
			"A batch that was interrupted is finished by giving its name again with --batch.",
		Args: cobra.NoArgs,
	}
	a := &applyCommand{address: mailboxFlag(cmd)}
	place := placeFlag(cmd)
	since := cmd.Flags().String("since", "", "only mail that is younger, such as 24h or 90d")
	until := cmd.Flags().String("until", "", "only mail that is older, such as 7d")
	cmd.Flags().StringArrayVar(&a.only, "rule", nil, "only this rule, by its name; may be given several times")
	cmd.Flags().StringVar(&a.batch, "batch", "", "the name of the batch, of letters, digits and hyphens; a new one if left out")
	cmd.Flags().BoolVar(&a.dry, "dry-run", false, "only say what would be done")
	a.asJSON = jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		window, err := mailWindow(*since, *until, time.Now())
		if err != nil {
			return err
		}
		begin := act
		if a.dry {
			begin = look
		}
		return begin(cmd, place, func(ctx context.Context, h *host) error { return a.run(ctx, cmd, h, window) })
	}
	return cmd
}

func (a *applyCommand) run(ctx context.Context, cmd *cobra.Command, h *host, window gmail.MessageRange) error {
	account, err := h.mailbox(ctx, *a.address)
	if err != nil {
		return err
	}
	if err := h.checkStored(ctx, a.only); err != nil {
		return err
	}
	engine, err := h.engine()
	if err != nil {
		return err
	}
	a.dry = a.dry || h.env.Config.Safety.DryRun // recorded, the batch would be canceled permanently, and its name used up
	done, err := rules.Apply(ctx, rules.ApplyConfig{
		Engine: engine, Only: a.only, Messages: h.mail.AllMessages(ctx, account.ID, window), Batch: a.batch,
		Labels: h.mail, Ledger: h.ledger, DryRun: a.dry,
	})
	a.batch = done.Batch
	switch {
	case err != nil && done.Messages > 0:
		return fmt.Errorf("batch %s is done in part, and --batch %s finishes it%s: %w", a.batch, a.batch, printer.Unless(len(done.Actions) == 0, "; "+a.takesBack(done.Actions)), err)
	case err != nil:
		return err
	}
	finished := true
	if !a.dry {
		if finished, err = h.carryOut(ctx, h.batchDone(a.batch)); err != nil {
			return err
		}
	}
	if *a.asJSON {
		stopped, err := h.openBreakers(ctx)
		if err != nil {
			return err
		}
		return printer.JSON(cmd.OutOrStdout(), appliedView{
			a.batch, a.dry, finished, done.Messages, done.Matched, done.Actions, irreversible(done.Actions), done.Rules, done.AlreadySo, done.Refused,
			done.Waiting, stopped,
		})
	}
	if err := a.print(cmd, done, finished); err != nil {
		return err
	}
	return h.tellBreakers(ctx, cmd)
}

type appliedView struct {
	Batch        string         `json:"batch"`
	DryRun       bool           `json:"dry_run"`
	Finished     bool           `json:"finished"`
	Messages     int            `json:"messages"`
	Matched      int            `json:"matched"`
	Actions      map[string]int `json:"actions"`
	Irreversible []string       `json:"irreversible"` // of the actions, those that cannot be undone
	Rules        map[string]int `json:"rules"`
	AlreadySo    int            `json:"already_so"`
	Refused      int            `json:"refused"`
	Waiting      int            `json:"waiting"`
	Stopped      string         `json:"stopped,omitempty"` // rules or models that breakers have stopped: their decisions wait
}

func (a *applyCommand) print(cmd *cobra.Command, done rules.Applied, finished bool) error {
	out := printer.NewFields(cmd.OutOrStdout())
	if !a.dry {
		out.Add("batch", a.batch)
	}
	out.Add("mail", fmt.Sprintf("%s, %d of them matched", printer.Count(done.Messages, "message", "messages"), done.Matched))
	what := map[bool]string{true: "would do", false: "does"}[a.dry]
	for _, action := range slices.Sorted(maps.Keys(done.Actions)) {
		out.Add(what, fmt.Sprintf("%s to %d", action, done.Actions[action]))
	}
	for _, rule := range slices.Sorted(maps.Keys(done.Rules)) {
		out.Add("by rule", fmt.Sprintf("%s: %d", rule, done.Rules[rule]))
	}
	out.Add("already so", done.AlreadySo)
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
		end = waits
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

// batchDone reports whether no action of a batch is left to carry out.
func (h *host) batchDone(batch string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		entries, err := h.ledger.Actions(ctx, safety.Filter{
			KeyPrefix: rules.BatchKey(batch), States: []postroom.ActionState{postroom.ActionQueued, postroom.ActionExecuting}, Limit: 1,
		})
		return len(entries) == 0, err
	}
}
