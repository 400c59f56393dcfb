package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

func accountsCommand() *cobra.Command {
	return group("accounts", "Look at the mailboxes, stop and remove them", accountsList(), accountsPause(), accountsResume(), accountsRemove())
}

func accountsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the mailboxes", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			s, err := h.status(ctx)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), s.Accounts)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "MAILBOX", "STATE", "WHY", "MESSAGES", "SYNCED")
			for _, a := range s.Accounts {
				t.Row(a.Email, a.State, a.why(), a.Messages, printer.Clock(a.LastSyncAt))
			}
			return t.Flush("no mailboxes: " + h.env.HowToAddMailbox())
		})
	}
	return cmd
}

func accountsPause() *cobra.Command {
	cmd := accountCommand("pause", "Stop the jobs of a mailbox until it is resumed", func(ctx context.Context, h *host, a gmail.Account, cmd *cobra.Command) (string, error) {
		why, err := cmd.Flags().GetString("why")
		if err != nil {
			return "", err
		}
		return "is paused", h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.mail.Pause(ctx, tx, h.queue, a.ID, why) })
	})
	cmd.Flags().String("why", "", "the reason, for the record")
	return cmd
}

func accountsResume() *cobra.Command {
	return accountCommand("resume", "Let the jobs of a mailbox run again", func(ctx context.Context, h *host, a gmail.Account, _ *cobra.Command) (string, error) {
		now := "is active"
		if h.env.LostGrant(ctx, a) {
			now = "is resumed, but its grant is gone: " + h.env.HowToSignIn(a)
		} else if lack := h.env.MissingCredentials(ctx, a); lack != "" {
			now += "; " + lack
		}
		return now, h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.mail.Resume(ctx, tx, h.queue, a.ID) })
	})
}

// accountCommand is a command that changes the mailbox of an address, and says what the mailbox is then.
func accountCommand(name, short string, change func(context.Context, *host, gmail.Account, *cobra.Command) (string, error)) *cobra.Command {
	cmd := &cobra.Command{Use: name + " ADDRESS", Short: short, Args: cobra.ExactArgs(1)}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			a, err := h.account(ctx, args[0])
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
