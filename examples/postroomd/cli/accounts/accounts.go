package accounts

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// New makes the command accounts with its own commands.
func New() *cobra.Command {
	return command.Group("accounts", "Look at the mailboxes, stop and remove them", accountsList(), accountsPause(),
		accountsResume(), accountsRemove(), accountsLook())
}

func accountsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the mailboxes", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			s, err := view.NewStatus(ctx, h)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), s.Accounts)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "MAILBOX", "STATE", "MESSAGES", "SYNCED", "WHY")
			for _, a := range s.Accounts {
				t.Row(a.Email, a.State, a.Messages, printer.Minute(a.LastSyncAt), a.Why())
			}
			return t.Flush("no mailboxes: " + h.Env.HowToAddMailbox())
		})
	}
	return cmd
}

func accountsPause() *cobra.Command {
	cmd := accountCommand("pause", "Stop the jobs of a mailbox until it is resumed",
		func(ctx context.Context, h *app.App, a mailstore.Account, cmd *cobra.Command) (string, error) {
			why, err := cmd.Flags().GetString("why")
			if err != nil {
				return "", err
			}
			return "is paused", h.PauseMailbox(ctx, a.ID, app.CurrentUser(), why)
		})
	cmd.Flags().String("why", "", "the reason, for the record")
	return cmd
}

func accountsResume() *cobra.Command {
	return accountCommand("resume", "Let the jobs of a mailbox run again",
		func(ctx context.Context, h *app.App, a mailstore.Account, _ *cobra.Command) (string, error) {
			now := "is active"
			if h.Env.LostGrant(ctx, a) {
				now = "is resumed, but its grant is gone: " + h.Env.HowToSignIn(a)
			} else if lack := h.Env.MissingCredentials(ctx, a); lack != "" {
				now += "; " + lack
			}
			return now, h.ResumeMailbox(ctx, a.ID, app.CurrentUser())
		})
}

// accountCommand is a command that changes the mailbox of an address, and says what the mailbox is then.
func accountCommand(name, short string, change func(context.Context, *app.App, mailstore.Account,
	*cobra.Command) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " ADDRESS", Short: short, Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			a, err := command.Account(ctx, h, args[0])
			if err != nil {
				return err
			}
			now, err := change(ctx, h, a, cmd)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", a.Email, now)
			return err
		})
	}
	return cmd
}
