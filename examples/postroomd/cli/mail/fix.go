package mail

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/backtest"
)

// A fixCommand has the flags of 'mail fix'.
type fixCommand struct {
	address          *string
	order            fixing.Order
	dry, yes, asJSON bool
}

func mailFix() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fix ID",
		Short: "Change the rules so that a message gets what it should have got",
		Long: "Change the rules so that a message gets what it should have got. You see the difference of the rules, and what they would\n" +
			"have done with the mail of 90 days, and are asked. The message itself stays as it is. The ways are:\n\n" +
			"    rule    a new rule, about mail like the message, is tried before the one that decides now\n" +
			"    change  the rule that decides does this with all mail that it takes\n" +
			"    except  the rule that decides leaves mail like the message to the rules after it\n" +
			"    test    the rules stay; a test of them says what they must do about the message\n\n" +
			"    postroomd mail fix 18c2f --action archive\n" +
			"    postroomd mail fix 18c2f --way except --about domain\n" +
			"    postroomd mail fix 18c2f --way change --action move --label Receipts --test --dry-run\n\n" +
			"The id is Gmail's, as 'postroomd mail list' has it, or ours.",
		Args: cobra.ExactArgs(1),
	}
	f := &fixCommand{address: command.MailboxFlag(cmd)}
	place := command.NewEnvironmentFlags(cmd)
	flags := cmd.Flags()
	flags.StringVar((*string)(&f.order.Way), "way", string(fixing.Rule), "rule, change, except or test")
	flags.StringVar((*string)(&f.order.Action), "action", "", "what should have been done, such as archive")
	flags.StringVar(&f.order.Label, "label", "", "the name of the label, for an action that has one")
	flags.StringVar(&f.order.Rule, "rule", "", "the rule that decides, where there are several")
	flags.StringVar((*string)(&f.order.About), "about", "",
		"what mail is like the message in: list, sender or domain; its list if left out, or else its sender")
	flags.BoolVar(&f.order.Test, "test", false, "also add a test that says so")
	flags.BoolVar(&f.dry, "dry-run", false, "only say what would change")
	flags.BoolVar(&f.yes, "yes", false, "do not ask before it is saved")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.asJSON = *asJSON; f.asJSON && !f.dry && !f.yes {
			return usage.Errorf("--json asks nothing; add --yes to save it, or --dry-run to look only")
		}
		begin := command.WithWriter
		if f.dry {
			begin = command.WithReader
		}
		return begin(cmd, place, func(ctx context.Context, h *app.App) error { return f.run(ctx, cmd, h, args[0]) })
	}
	return cmd
}

func (f *fixCommand) run(ctx context.Context, cmd *cobra.Command, h *app.App, id string) error {
	account, err := command.Mailbox(ctx, h, *f.address)
	if err != nil {
		return err
	}
	m, err := h.FindMessage(ctx, account, id)
	if err != nil {
		return err
	}
	v := fixView{}
	if v.Case, err = fixing.Open(ctx, h, account, m); err != nil {
		return err
	}
	if v.Proposal, err = v.Propose(ctx, f.order); err != nil {
		return f.explain(err)
	}
	if v.Proposal.Decides {
		if v.Backtest, err = v.Proposal.Try(ctx); err != nil {
			return err
		}
		v.Risks = v.Proposal.Dangerous(v.Backtest)
	}
	if !f.asJSON {
		if err := v.print(cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	if !f.dry {
		if err := f.save(ctx, cmd, h, account, m, v.Proposal); err != nil {
			return err
		}
	}
	if f.asJSON {
		return printer.JSON(cmd.OutOrStdout(), v)
	}
	return nil
}

// explain names the flag that a proposal lacks.
func (f *fixCommand) explain(err error) error {
	if f.order.Action == "" && f.order.Way != fixing.Except {
		return usage.Errorf("name what should have been done by --action: %s", kinds())
	}
	return err
}

func kinds() string {
	return strings.Join(printer.List(ruledraft.Actions, func(t postroom.ActionType) string { return string(t) }), ", ")
}

// save asks, and saves what was shown.
func (f *fixCommand) save(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
	m *postroom.Message, p *fixing.Proposal) error {
	if !f.yes {
		err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), command.Question{
			Text: "save this?", Instead: ", or --dry-run to look only", Refused: "nothing was saved",
		})
		if err != nil {
			return err
		}
	}
	_, err := fixing.Save(ctx, h, account, m, f.order, p.Digest, app.CurrentUser())
	if errors.Is(err, fixing.ErrChanged) {
		return usage.Wrap(err)
	}
	if err != nil || f.asJSON {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), "The rules are saved, as a new version; 'postroomd rules versions' lists them. "+
		"The message stays as it is.")
	return err
}

// A fixView is what the rules do with a message, and what would change.
type fixView struct {
	*fixing.Case

	Proposal *fixing.Proposal `json:"proposal"`
	Backtest *backtest.Report `json:"backtest,omitempty"`
	Risks    []string         `json:"risks,omitempty"`
}

func (v *fixView) print(w io.Writer) error {
	out, p := printer.NewFields(w), v.Proposal
	for _, d := range v.Deciders {
		decided := "has it now"
		if d.Decided {
			decided = "has decided"
		}
		out.Add("rule", fmt.Sprintf("%s (%s): %s", d.Rule, decided, strings.Join(d.Does, ", ")))
	}
	out.Add("fix", p.Says)
	then := printer.Unless(len(p.Then) > 0, "nothing from rules") + strings.Join(p.Then, ", ")
	out.Add("then", then+printer.Unless(p.Met, ", which is not what it should have been"))
	for _, list := range []struct {
		name  string
		texts []string
	}{{"danger", p.Dangers}, {"danger", v.Risks}, {"note", p.Notes}, {"test", p.Failed}} {
		for _, text := range list.texts {
			out.Add(list.name, text)
		}
	}
	if v.Backtest != nil {
		out.Add("of 90 days", fmt.Sprintf("it decides otherwise about %d of %s", v.Backtest.Changed,
			printer.Count(v.Backtest.Messages, "message", "messages")))
		for _, c := range v.Backtest.Changes {
			out.Add("", fmt.Sprintf("%d: %s instead of %s", c.Count, some(c.After), some(c.Before)))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for _, text := range p.Differences {
		if _, err := fmt.Fprintln(w, printer.PrintableLines(text)); err != nil {
			return err
		}
	}
	return nil
}

func some(actions []string) string {
	return printer.Unless(len(actions) > 0, "nothing") + strings.Join(actions, ", ")
}
