// Package learn is the group of commands about rules that are learned from corrections.
package learn

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("learn", "See the rules that were learned from what you correct, and answer", list(), show(),
		answer(learning.Accept, "Make a learned rule one of the rules in use"),
		answer(learning.Dismiss, "Say no to a learned rule; it comes again once twice as much speaks for it"),
		answer(learning.Remove, "Remove a learned rule from the rules in use"), run(), bulk(), right(), calibration(),
		teach())
	cmd.Long = "See the rules that were learned from what you correct by hand, and answer. They are learned once a week,\n" +
		"without a model; it needs learn.enabled."
	return cmd
}

type task func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account, args []string) error

// forMailbox gives a command the mailbox that it is about.
func forMailbox(cmd *cobra.Command, do task) *cobra.Command {
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			return do(ctx, cmd, h, account, args)
		})
	}
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the learned rules that wait for you or are in use", Args: cobra.NoArgs}
	asJSON := command.JSONFlag(cmd)
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		_ []string) error {
		l, err := learning.List(ctx, h, account)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), l)
		}
		t := printer.NewTable(cmd.OutOrStdout(), "ID", "STATE", "CLASS", "FOR", "AGAINST", "RIGHT", "MATCHES", "RULE")
		for i := range l.Rules {
			r := &l.Rules[i]
			t.Row(printer.ShortID(r.ID), string(r.State), string(r.Class), strconv.Itoa(r.Agreeing),
				strconv.Itoa(r.Contradicting), fmt.Sprintf("%d%%+", r.Percent()), strconv.Itoa(r.Matched), r.Name)
		}
		if err := t.Flush("nothing was learned that waits for you or is in use"); err != nil {
			return err
		}
		for i := range l.Drifts {
			d := &l.Drifts[i]
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s; 'postroomd learn right %s' ends that\n",
				printer.Printable(d.What()), d.Why, d.Typed()); err != nil {
				return err
			}
		}
		if l.Bulk == 0 {
			return nil
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(),
			"%s made in bulk do not count; 'postroomd learn bulk yes %d' or 'no %[2]d' answers\n",
			printer.Count(l.Bulk, "correction", "corrections"), l.Bulk)
		return err
	})
}

func show() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a learned rule, and what taught it", Args: cobra.ExactArgs(1)}
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		args []string) error {
		l, err := learning.List(ctx, h, account)
		if err != nil {
			return err
		}
		var ids []string
		for i := range l.Rules {
			if app.MatchesID(l.Rules[i].ID, args[0]) {
				ids = append(ids, l.Rules[i].ID)
			}
		}
		id, err := app.OneID(ids, "learned rule", args[0], "postroomd learn list")
		if err != nil {
			return err
		}
		for i := range l.Rules {
			if l.Rules[i].ID == id {
				return printRule(cmd, &l.Rules[i])
			}
		}
		return nil
	})
}

func printRule(cmd *cobra.Command, r *learning.Rule) error {
	out := printer.NewFields(cmd.OutOrStdout())
	out.Add("id", r.ID)
	out.Add("state", string(r.State))
	out.Add("proven", fmt.Sprintf("%s: %d conversations for it, %d against: right in %d %% of cases or more", r.Class,
		r.Agreeing, r.Contradicting, r.Percent()))
	out.Add("matches", fmt.Sprintf("%d messages of the last 90 days", r.Matched))
	for _, kind := range []struct {
		name string
		list []learning.Message
	}{{"taught by", r.Taught}, {"against", r.Against}} {
		for _, m := range kind.list {
			out.Add(kind.name, fmt.Sprintf("%s  %s  %s  %s", m.ID, printer.Minute(m.Received), m.From, m.Subject))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), "\n"+r.Text)
	return err
}

func answer(a learning.Answer, short string) *cobra.Command {
	cmd := &cobra.Command{Use: string(a) + " ID", Short: short, Args: cobra.ExactArgs(1)}
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		args []string) error {
		r, err := learning.Give(ctx, h, account, a, args[0], app.CurrentUser())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", r.State, r.Name)
		return err
	})
}

func run() *cobra.Command {
	cmd := &cobra.Command{Use: "run", Short: "Learn now, and not only once a week", Args: cobra.NoArgs}
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		_ []string) error {
		report, err := learning.Run(ctx, h, account)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), learning.Summary(report))
		return err
	})
}

func calibration() *cobra.Command {
	cmd := &cobra.Command{Use: "calibration", Short: "Compare how sure the models were with what you said about it",
		Args: cobra.NoArgs}
	cmd.Long = "Compare how sure the models were with what you said about what they decided, and see the threshold\n" +
		"that this speaks for. You set it: it is policy.confidence_default of the configuration, and nothing changes\n" +
		"it by itself."
	asJSON := command.JSONFlag(cmd)
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		_ []string) error {
		c, err := learning.Calibrate(ctx, h, []mailstore.Account{account}, time.Now())
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), c)
		}
		t := printer.NewTable(cmd.OutOrStdout(), "CONFIDENCE", "RIGHT", "WRONG", "SHARE")
		for _, b := range c.Bins {
			if b.Right+b.Wrong > 0 {
				t.Row(fmt.Sprintf("%.1f to %.1f", b.From, b.To), strconv.Itoa(b.Right), strconv.Itoa(b.Wrong),
					fmt.Sprintf("%d %%", b.Percent()))
			}
		}
		if err := t.Flush("you have said nothing yet about what models decided"); err != nil {
			return err
		}
		text := c.Says() + "\n"
		if line := c.Line(); line != "" {
			text += "Set it below [policy] in the configuration, and restart postroomd: " + line + "\n"
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	})
}

func teach() *cobra.Command {
	cmd := &cobra.Command{Use: "teach LESSON MESSAGE",
		Short: "Have a rule proposed from one message: always do this, or never", Args: cobra.ExactArgs(2),
		ValidArgs: []string{string(learning.Always), string(learning.Never)}}
	cmd.Long = "Have a rule proposed from one message, for all mail of its list, or else of its sender: 'always' does\n" +
		"what has become of the message, or what --action says; 'never' leaves such mail alone. The rule is not in\n" +
		"force before you accept it."
	action := cmd.Flags().String("action", "", "what is always done: archive, apply_label, move, mark_read or star")
	label := cmd.Flags().String("label", "", "the name of the label of the action")
	asJSON := command.JSONFlag(cmd)
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		args []string) error {
		t, err := learning.Teach(ctx, h, account, learning.Wish{Lesson: learning.Lesson(args[0]), Message: args[1],
			Action: postroom.ActionType(*action), Label: *label}, app.CurrentUser())
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), t)
		}
		for _, change := range t.Changes {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), change); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "Tried on %s of 90 days: it decides otherwise about %d.\n"+
			"It waits for you: 'postroomd rules chat accept %s %d', or the page Assistant.\n",
			printer.Count(t.Tried, "message", "messages"), t.Differs, t.Session, t.Number)
		return err
	})
}

func right() *cobra.Command {
	cmd := &cobra.Command{Use: "right RULE", Args: cobra.ExactArgs(1),
		Short: "Say that a rule which you have corrected is right again, or the models"}
	cmd.Long = "Say that a rule which you have corrected is right again: its name, its id, or 'models' for what the\n" +
		"models decide. It warns no more, and you are not asked because of it; what was done before does not count\n" +
		"any more."
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		args []string) error {
		d, err := learning.RightAgain(ctx, h, account, args[0], app.CurrentUser())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "right again: %s\n",
			printer.Printable(cmp.Or(d.Rule, "what the models decide")))
		return err
	})
}

func bulk() *cobra.Command {
	cmd := &cobra.Command{Use: "bulk ANSWER COUNT", Short: "Say whether what was done to many messages at once counts",
		Args: cobra.ExactArgs(2), ValidArgs: []string{"yes", "no"}}
	cmd.Long = "Say whether what was done to many messages at once counts, as yours: yes or no. More than 20 corrections\n" +
		"within 60 seconds may be another program's, and do not count until you say so. COUNT is how many they are, as\n" +
		"'postroomd learn list' says: if there are others by now, nothing is answered."
	return forMailbox(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account,
		args []string) error {
		if args[0] != "yes" && args[0] != "no" {
			return usage.Errorf("%q is no answer: yes or no", args[0])
		}
		shown, err := strconv.Atoi(args[1])
		if err != nil {
			return usage.Errorf("%q is no number of corrections: 'postroomd learn list' says how many they are", args[1])
		}
		n, err := learning.CountBulk(ctx, h, account, shown, args[0] == "yes")
		if err != nil {
			return err
		}
		says := "never count"
		if args[0] == "yes" {
			says = "count from now on"
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", printer.Count(n, "correction", "corrections"), says)
		return err
	})
}
