package mail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/bulk"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
)

// An actCommand has the flags of 'mail act'.
type actCommand struct {
	address          *string
	request          bulk.Request
	dry, yes, asJSON bool
}

func mailAct() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "act ACTION",
		Short: "Do one thing to all mail that a search finds, as one batch that can be taken back",
		Long: "Do one thing to all mail that a search finds, at most 500 messages at once, the newest first. You see how many and the\n" +
			"newest 20, and what is left alone and why, and are asked. It is your own decision, and in the ledger as such; one command\n" +
			"takes all of it back. Only what can be taken back exactly is done so: nothing is sent, or deleted for good.\n\n" +
			"    postroomd mail act archive --query 'from:news@example.org older_than:1y'\n" +
			"    postroomd mail act apply_label --label Receipts --query 'subject:invoice has:attachment'\n" +
			"    postroomd undo --batch BATCH\n\n" +
			"What you have changed by hand since, or undone, is left alone; --again does that as well.",
		Args: cobra.ExactArgs(1),
	}
	a := &actCommand{address: command.MailboxFlag(cmd)}
	place := command.NewEnvironmentFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&a.request.Query, "query", "", "what to search for, as in Gmail's own search box")
	flags.StringVar(&a.request.Label, "label", "", "the name of the label, for an action that has one")
	flags.BoolVar(&a.request.Spam, "spam-trash", false, "also what is in the spam or the trash")
	flags.BoolVar(&a.request.Again, "again", false, "also what was changed by hand since, or undone")
	flags.BoolVar(&a.dry, "dry-run", false, "only say what would be done")
	flags.BoolVar(&a.yes, "yes", false, "do not ask before it is done")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a.asJSON, a.request.Kind, a.request.By = *asJSON, postroom.ActionType(args[0]), app.CurrentUser()
		if a.asJSON && !a.dry && !a.yes {
			return usage.Errorf("--json asks nothing; add --yes to do it, or --dry-run to look only")
		}
		begin := command.WithWriter
		if a.dry {
			begin = command.WithReader
		}
		return begin(cmd, place, func(ctx context.Context, h *app.App) error { return a.run(ctx, cmd, h) })
	}
	return cmd
}

func (a *actCommand) run(ctx context.Context, cmd *cobra.Command, h *app.App) (err error) {
	if a.request.Account, err = command.Mailbox(ctx, h, *a.address); err != nil {
		return err
	}
	p, err := bulk.Plan(ctx, h, a.request)
	if err != nil {
		return err
	}
	switch {
	case a.dry && a.asJSON:
		return printer.JSON(cmd.OutOrStdout(), p)
	case !a.asJSON:
		warnOfPlan(cmd, a.request.Account.Email, p)
		if err := printPlan(cmd, p); err != nil {
			return err
		}
	}
	if a.dry || p.Count == 0 && !a.asJSON {
		return nil
	}
	if !a.yes {
		err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
			Text: "do this to " + printer.Count(p.Count, "message", "messages") + "?", Instead: ", or --dry-run to look only",
			Refused: "nothing was done",
		})
		if err != nil {
			return err
		}
	}
	return a.act(ctx, cmd, h, p)
}

// act does what was shown, and prints what was done and how to take it back.
func (a *actCommand) act(ctx context.Context, cmd *cobra.Command, h *app.App, p *bulk.Preview) error {
	bar := printer.NewProgress(cmd.ErrOrStderr()).Start("decided", p.Count)
	done, err := bulk.Act(ctx, h, a.request, p.Digest, func(n, _ int) { bar.Set(n) })
	switch {
	case errors.Is(err, bulk.ErrChanged):
		return usage.Wrap(err)
	case err != nil && done.Recorded > 0:
		return fmt.Errorf("%w; 'postroomd undo --batch %s' takes that back", err, done.Batch)
	case err != nil:
		return err
	}
	bar.Done()
	finished, err := h.CarryOut(ctx, command.BatchDone(h, rules.BatchKey(done.Batch)))
	if err != nil {
		return err
	}
	if a.asJSON {
		return printer.JSON(cmd.OutOrStdout(), struct {
			bulk.Done
			Finished bool `json:"finished"`
		}{done, finished})
	}
	return printDone(cmd, done, finished)
}

func printDone(cmd *cobra.Command, done bulk.Done, finished bool) error {
	out := printer.NewFields(cmd.OutOrStdout())
	out.Add("batch", done.Batch)
	out.Add("done to", printer.Count(done.Recorded, "message", "messages"))
	for _, why := range slices.Sorted(maps.Keys(done.NotDone)) {
		out.Add("not done", fmt.Sprintf("%d: %s", done.NotDone[why], printer.Printable(why)))
	}
	if err := out.Flush(); err != nil || done.Recorded == 0 {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "'postroomd undo --batch %s' takes it back%s\n%s", done.Batch,
		printer.Unless(finished, command.CarriedOutLater),
		printer.Unless(!done.More, "there is more: the same command goes on\n"))
	return err
}

func warnOfPlan(cmd *cobra.Command, mailbox string, p *bulk.Preview) {
	for _, d := range p.Doubts {
		warnOfDoubt(cmd.ErrOrStderr(), d.Term, d.Reason, d.Meant)
	}
	warnOfLabels(cmd.ErrOrStderr(), mailbox, p.UnknownLabels)
}

func printPlan(cmd *cobra.Command, p *bulk.Preview) error {
	w := cmd.OutOrStdout()
	if err := printMail(w, p.Mail); err != nil {
		return err
	}
	out := printer.NewFields(w)
	what := string(p.Kind)
	if p.Label != "" {
		what += " " + printer.Printable(p.Label)
	}
	more := ""
	if n := p.Count - len(p.Mail); n > 0 {
		more = fmt.Sprintf(", %d of which are not shown", n)
	}
	out.Add("would do", fmt.Sprintf("%s to %s%s", what, printer.Count(p.Count, "message", "messages"), more))
	for _, left := range p.LeftAlone {
		again := ""
		if left.Why == bulk.ByHand {
			again = "; --again does it all the same"
		}
		out.Add("left alone", fmt.Sprintf("%d: %s%s", left.N, left.Why, again))
	}
	switch {
	case p.More && p.Count > 0:
		out.Add("more", "the search finds more, which come next time")
	case p.More:
		out.Add("more", "the search finds more, which were not looked at: narrow it, as with in:inbox or older_than:1y")
	}
	if p.Note != "" {
		out.Add("note", p.Note)
	}
	return out.Flush()
}
