// Package drafts is the group of commands about drafts of answers.
package drafts

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	views "github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/gmail/replies"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("drafts", "See the drafts of answers, have one written again, send or discard one", draftsList(),
		draftsShow(), draftsRework(), draftsSend(), draftsDiscard(), draftsVoice())
	cmd.Long = "See the drafts of answers, have one written again, send or discard one. None is sent but by your word,\n" +
		"here or in Gmail."
	return cmd
}

func draftsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the open drafts, the latest change first", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	of := mailboxFlag(cmd, "only those of this mailbox")
	all := cmd.Flags().Bool("all", false, "also what has ended: sent, archived or skipped")
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := accountOf(ctx, h, *of)
			if err != nil {
				return err
			}
			filter := replies.Filter{AccountID: account, States: views.Open(), Limit: *limit}
			if *all {
				filter.States = nil
			}
			v, err := views.NewPage(ctx, h, filter)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "STATE", "MAILBOX", "SUBJECT", "SINCE", "WHY")
			for _, d := range v.List {
				t.Row(d.ID, d.Words(), d.Mailbox, printer.Short(d.Subject, 60), printer.Minute(d.Since), d.Reason)
			}
			return t.Flush("no drafts")
		})
	}
	return cmd
}

func draftsShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show ID", Short: "Show a draft with its conversation, its history and its texts",
		Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	of := mailboxFlag(cmd, "the mailbox, if several have such an id")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			r, err := find(ctx, h, *of, args[0])
			if err != nil {
				return err
			}
			v, err := views.NewWhole(ctx, h, r)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}

func draftsRework() *cobra.Command {
	cmd := change("rework ID SENTENCE", "Have a draft written again, as the sentence says",
		func(ctx context.Context, h *app.App, _ *cobra.Command, r replies.Reply, args []string) (string, error) {
			err := h.ReworkDraft(ctx, r, 0, app.CurrentUser(), args[1])
			return "It is being written again; 'postroomd drafts show " + r.ThreadID + "' has the text.", err
		})
	cmd.Args = cobra.ExactArgs(2)
	cmd.Long = "Have a draft written again, as the sentence says, at most three times. What you have changed in the\n" +
		"draft is the text that is worked on.\n\n    postroomd drafts rework 18c2 \"shorter, and ask for Friday\""
	return cmd
}

func draftsSend() *cobra.Command {
	var yes *bool
	cmd := change("send ID", "Send a draft as it is at Gmail, after it was shown",
		func(ctx context.Context, h *app.App, cmd *cobra.Command, r replies.Reply, _ []string) (string, error) {
			v, err := views.NewWhole(ctx, h, r)
			if err != nil {
				return "", err
			}
			if v.AtGmail == nil {
				return "", usage.Errorf("there is no draft to send: %s", cmp.Or(v.Unread, "it is "+v.Words()))
			}
			if err := v.AtGmail.Print(cmd.OutOrStdout()); err != nil {
				return "", err
			}
			if !*yes {
				question := command.Question{Text: "\nSend this?", Refused: "nothing was sent"}
				if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), question); err != nil {
					return "", err
				}
			}
			return "Sent.", h.SendDraft(ctx, r, v.Turn, v.AtGmail.SHA256, app.CurrentUser())
		})
	yes = cmd.Flags().Bool("yes", false, "do not ask")
	cmd.Long = "Send a draft, once, as it is at Gmail, with what you have changed there. To whom it goes and all of its\n" +
		"text are shown first. One that changes meanwhile, or that has facts to check, is not sent."
	return cmd
}

func draftsDiscard() *cobra.Command {
	cmd := change("discard ID", "End a draft; it is deleted at Gmail unless you have changed it",
		func(ctx context.Context, h *app.App, _ *cobra.Command, r replies.Reply, _ []string) (string, error) {
			fate, err := h.DiscardDraft(ctx, r, 0, app.CurrentUser())
			return views.FateText(fate), err
		})
	cmd.Long = "End a draft. It is deleted at Gmail, for good, if it is as it was written; one that you have\n" +
		"changed stays among your drafts."
	return cmd
}

// change makes a command that does something with a draft, and prints what was done.
func change(use, short string,
	do func(context.Context, *app.App, *cobra.Command, replies.Reply, []string) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	of := mailboxFlag(cmd, "the mailbox, if several have such an id")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			r, err := find(ctx, h, *of, args[0])
			if err != nil {
				return err
			}
			done, err := do(ctx, h, cmd, r, args)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			}
			return err
		})
	}
	return cmd
}

func mailboxFlag(cmd *cobra.Command, says string) *string {
	return cmd.Flags().String("mailbox", "", says)
}

func find(ctx context.Context, h *app.App, mailbox, id string) (r replies.Reply, err error) {
	account, err := accountOf(ctx, h, mailbox)
	if err != nil {
		return r, err
	}
	return h.FindReply(ctx, account, id)
}

func accountOf(ctx context.Context, h *app.App, mailbox string) (string, error) {
	if mailbox == "" {
		return "", nil
	}
	a, err := command.Account(ctx, h, mailbox)
	return a.ID, err
}
