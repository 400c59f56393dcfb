// Package lists is the group of commands that leave mailing lists.
package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/rules"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("unsubscribe", "Leave mailing lists, see what came of it, or block their mail", list(), do(), status(),
		block())
	cmd.Long = "Leave mailing lists, see what came of it, or block their mail. Nothing is left but by your word; it needs\n" +
		"unsubscribe.enabled."
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the mailing lists that you hardly read", Args: cobra.NoArgs}
	cmd.Long = "List the mailing lists that you hardly read: at least five messages in 90 days, less than a fifth of them read.\n" +
		"The 20 with the most mail are listed; when they are left, others follow."
	asJSON := command.JSONFlag(cmd)
	return reading(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account) error {
		found, err := subscriptions.Suggested(ctx, h, account)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), found)
		}
		t := printer.NewTable(cmd.OutOrStdout(), "SENDER", "MESSAGES", "READ", "LAST", "LAST READ", "HOW")
		for _, s := range found {
			read := ""
			if !s.LastReadAt.IsZero() {
				read = printer.Minute(s.LastReadAt)
			}
			t.Row(s.Sender, strconv.Itoa(s.Messages), fmt.Sprintf("%d%%", s.Percent()), printer.Minute(s.LastAt), read, how(&s))
		}
		return t.Flush("no list that you hardly read")
	})
}

// how says how a list is left.
func how(s *subscriptions.Subscription) string {
	switch s.Way {
	case unsubscribe.OneClick:
		return "one click, at " + s.Target
	case unsubscribe.ByMail:
		return "a mail to " + s.Target
	case subscriptions.ByLink:
		return "open " + s.Links[0].URL
	}
	return s.Why
}

func do() *cobra.Command {
	cmd := &cobra.Command{Use: "do SENDER...", Short: "Leave the mailing lists of senders, as one batch",
		Args: cobra.MinimumNArgs(1)}
	cmd.Long = "Leave the mailing lists of senders, as one batch: by the one click that the newest message of each offers (RFC 8058),\n" +
		"if its sender has signed it, else by the mail that it names. You see how first, and are asked. What can be left in\n" +
		"neither way has a link for you to open. It cannot be taken back.\n\n" +
		"    postroomd unsubscribe do news@example.org offers@example.com"
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	dry := cmd.Flags().Bool("dry-run", false, "only say what would be done")
	yes := cmd.Flags().Bool("yes", false, "do not ask before it is done")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		begin := command.WithWriter
		if *dry {
			begin = command.WithReader
		}
		return begin(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			r := subscriptions.Request{Account: account, Senders: args, By: app.CurrentUser()}
			p, err := subscriptions.Plan(ctx, h, r)
			if err != nil {
				return err
			}
			if err := printPlan(cmd.OutOrStdout(), p); err != nil || *dry || p.Count == 0 {
				return err
			}
			if !*yes {
				question := command.Question{Text: "leave " + printer.Count(p.Count, "list", "lists") + "?",
					Instead: ", or --dry-run to look only", Refused: "nothing was done"}
				if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), question); err != nil {
					return err
				}
			}
			return leave(ctx, cmd, h, r, p.Digest)
		})
	}
	return cmd
}

func printPlan(w io.Writer, p *subscriptions.Preview) error {
	out := printer.NewFields(w)
	for i := range p.Leave {
		s := &p.Leave[i]
		out.Add("leave", s.Sender+": "+how(s))
		if s.Way == unsubscribe.ByMail {
			out.Add("", fmt.Sprintf("subject %q, text %q", s.Subject, s.Text))
		}
	}
	for _, s := range p.NotLeft {
		out.Add("not left", s.Sender+": "+printer.Printable(s.Why))
		for _, l := range s.Links {
			out.Add("", "you can open "+printer.Printable(l.URL))
		}
	}
	return out.Flush()
}

func leave(ctx context.Context, cmd *cobra.Command, h *app.App, r subscriptions.Request, digest string) error {
	done, err := subscriptions.Act(ctx, h, r, digest)
	if errors.Is(err, subscriptions.ErrChanged) {
		err = usage.Wrap(err)
	}
	if err != nil {
		return err
	}
	finished, err := h.CarryOut(ctx, command.BatchDone(h, rules.BatchKey(done.Batch)))
	if err != nil {
		return err
	}
	out := printer.NewFields(cmd.OutOrStdout())
	out.Add("batch", done.Batch)
	out.Add("being left", printer.Count(done.Recorded, "list", "lists"))
	for _, why := range slices.Sorted(maps.Keys(done.NotDone)) {
		out.Add("not done", fmt.Sprintf("%d: %s", done.NotDone[why], printer.Printable(why)))
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "'postroomd unsubscribe status' says what came of it%s\n",
		printer.Unless(finished, command.CarriedOutLater))
	return err
}

func status() *cobra.Command {
	cmd := &cobra.Command{Use: "status", Short: "List the lists that were left, and those that still send",
		Args: cobra.NoArgs}
	cmd.Long = "List the lists that were left, the latest first, and what came of it: whether the request was taken, and whether\n" +
		"the list still sends ten days later. What does can be blocked ('unsubscribe block')."
	cursor := cmd.Flags().String("cursor", "", "go on where an earlier list ended; it says how")
	asJSON := command.JSONFlag(cmd)
	return reading(cmd, func(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account) error {
		page, err := subscriptions.NewLeft(ctx, h, account, *cursor)
		switch {
		case err != nil:
			return err
		case *asJSON:
			return printer.JSON(cmd.OutOrStdout(), page)
		}
		t := printer.NewTable(cmd.OutOrStdout(), "SENDER", "DECIDED", "ACTION", "RESULT")
		for i := range page.Left {
			l := &page.Left[i]
			t.Row(l.Sender, printer.Minute(l.At), l.ActionID, l.Result())
		}
		if err := t.Flush("no list was left yet"); err != nil || page.Next == "" {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "there are more: add --cursor %s\n", page.Next)
		return err
	})
}

func block() *cobra.Command {
	cmd := &cobra.Command{Use: "block SENDER [LIST-ID]", Short: "Write a rule that archives the mail of a sender's list",
		Args: cobra.RangeArgs(1, 2)}
	cmd.Long = "Write a rule that archives the mail of a sender's list from now on, or of the sender if it names none. Name the list\n" +
		"where not all mail of the sender is of one. The rule is yours like any other: 'postroomd rules' has it, and removing\n" +
		"it ends the block."
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			list := subscriptions.List{Sender: args[0]}
			if len(args) > 1 {
				list.ID = args[1]
			}
			rule, err := subscriptions.Block(ctx, h, account, list, app.CurrentUser())
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "the rule %q archives it from now on\n", rule)
			}
			return err
		})
	}
	return cmd
}

// reading makes a command that looks at one mailbox.
func reading(cmd *cobra.Command,
	run func(context.Context, *cobra.Command, *app.App, mailstore.Account) error) *cobra.Command {
	address := command.MailboxFlag(cmd)
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			return run(ctx, cmd, h, account)
		})
	}
	return cmd
}
