// Package away is the group of commands about absences.
package away

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/absence"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("away", "Answer mail while you are away, once for each sender", show(), set(), off())
	cmd.Long = "Answer mail while you are away, once for each sender: no lists, no programs, nobody who is not verified. It ends\n" +
		"by its date."
	return cmd
}

// account returns the mailbox that is named, or the only one.
func account(ctx context.Context, h *app.App, address string) (mailstore.Account, error) {
	if address != "" {
		return command.Account(ctx, h, address)
	}
	all, err := h.Mail.Accounts(ctx)
	switch {
	case err != nil:
		return mailstore.Account{}, err
	case len(all) == 0:
		return mailstore.Account{}, usage.Errorf("there is no mailbox yet; %s", h.Env.HowToAddMailbox())
	case len(all) > 1:
		return mailstore.Account{}, usage.Errorf("there are %d mailboxes: name one with --mailbox", len(all))
	}
	return all[0], nil
}

func show() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Show who is away, and how many were answered", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			list, err := absence.All(ctx, h)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), map[string]any{"mailboxes": list})
			}
			for i := range list {
				if err := list[i].Print(cmd.OutOrStdout()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return cmd
}

func set() *cobra.Command {
	cmd := &cobra.Command{Use: "set [TEXT]", Short: "Switch it on, after showing whom it would have answered",
		Args: cobra.MaximumNArgs(1),
		Long: "Switch it on, or change it. First it shows whom it would have answered in the last 14 days.\n\n" +
			"    postroomd away set --until 2027-01-31 'Dear {{first_name|all}}, I am away until {{until}}.'\n\n" +
			"A text of - is read from standard input. --snippet names a text of the rules file in its place."}
	place := command.NewEnvironmentFlags(cmd)
	mailbox := cmd.Flags().String("mailbox", "", "the mailbox, if there are several")
	var wanted absence.Wanted
	cmd.Flags().StringVar(&wanted.From, "from", "", "the first day, as 2027-01-31 (default now)")
	cmd.Flags().StringVar(&wanted.Until, "until", "", "the last day")
	cmd.Flags().StringVar(&wanted.Snippet, "snippet", "", "the name of a snippet of the rules, in place of the text")
	cmd.Flags().IntVar(&wanted.Days, "days", 0, "answer a sender again after so many days (default never in this absence)")
	cmd.Flags().StringVar(&wanted.Audience, "audience", "everybody", "everybody, or known: those to whom you have written")
	yes := cmd.Flags().Bool("yes", false, "do not ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := textOf(cmd, args, &wanted); err != nil {
			return err
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			a, err := account(ctx, h, *mailbox)
			if err != nil {
				return err
			}
			return switchOn(ctx, cmd, h, a, wanted, *yes)
		})
	}
	return cmd
}

// mostText is more than an absence may have.
const mostText = 64 << 10

func textOf(cmd *cobra.Command, args []string, wanted *absence.Wanted) error {
	if len(args) == 0 {
		return nil
	}
	if wanted.Text = args[0]; wanted.Text != "-" {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(cmd.InOrStdin(), mostText))
	wanted.Text = string(text)
	return err
}

func switchOn(ctx context.Context, cmd *cobra.Command, h *app.App, account mailstore.Account, wanted absence.Wanted,
	yes bool) error {
	a, err := absence.Read(h, account, wanted, app.CurrentUser())
	if err != nil {
		return err
	}
	preview, err := absence.NewPreview(ctx, h, a)
	if err != nil {
		return err
	}
	if err := preview.Print(cmd.OutOrStdout()); err != nil {
		return err
	}
	if !yes {
		question := command.Question{Text: "\nAnswer " + account.Email + " until " + a.LastDay() + "?",
			Refused: "nothing was switched on"}
		if err := command.Confirm(cmd.InOrStdin(), cmd.OutOrStdout(), question); err != nil {
			return err
		}
	}
	s, err := absence.Set(ctx, h, account, a)
	if err != nil {
		return err
	}
	return s.Print(cmd.OutOrStdout())
}

func off() *cobra.Command {
	cmd := &cobra.Command{Use: "off", Short: "End it before its date", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	mailbox := cmd.Flags().String("mailbox", "", "the mailbox, if there are several")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			a, err := account(ctx, h, *mailbox)
			if err != nil {
				return err
			}
			ended, err := absence.End(ctx, h, a.ID, app.CurrentUser())
			if err != nil {
				return err
			}
			text := a.Email + " is not answered any more"
			if !ended {
				text = "nobody was away in " + a.Email
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		})
	}
	return cmd
}
