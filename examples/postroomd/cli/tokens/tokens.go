// Package tokens has the commands that add, list and revoke the tokens of programs.
package tokens

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// New makes the command tokens.
func New() *cobra.Command {
	return command.Group("tokens", "Add, list and revoke the tokens of programs that call by HTTP", add(), list(), revoke())
}

func add() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a token, and print it once",
		Long: "Make a token, and print it once: only its hash is stored. What is done by it is on record by its name. --scope see reads;\n" +
			"propose also proposes actions as an assistant at /mcp; approve also answers requests, takes back, stops and resumes; own also\n" +
			"changes rules, mailboxes and jobs. It ends after --days, at most 90: make another one before.",
		Args: cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	t := tokens.Token{}
	cmd.Flags().StringVar((*string)(&t.Scope), "scope", string(tokens.See), "see, propose, approve or own")
	cmd.Flags().StringArrayVar(&t.Mailboxes, "mailbox", nil, "only this mailbox, by its address; may be given several times")
	days := cmd.Flags().Int("days", tokens.MostDays, "the days after which it ends, 1 to 90")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *days < 1 || *days > tokens.MostDays {
			return usage.Errorf("--days is %d; it must be within 1 and %d", *days, tokens.MostDays)
		}
		t.Name, t.ExpiresAt = args[0], time.Now().Add(time.Duration(*days)*24*time.Hour)
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if err := knowsMailboxes(ctx, h, t.Mailboxes); err != nil {
				return err
			}
			secret, err := tokens.New(h.DB).Add(ctx, t)
			if err != nil {
				return err
			}
			cmd.PrintErrf("The token %s ends at %s.\n", t.Name, printer.Minute(t.ExpiresAt))
			_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			return err
		})
	}
	return cmd
}

// knowsMailboxes refuses an address that is no mailbox: it is probably mistyped.
func knowsMailboxes(ctx context.Context, h *app.App, addresses []string) error {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	known := printer.List(accounts, func(a mailstore.Account) string { return a.Email })
	for _, address := range addresses {
		if !slices.Contains(known, address) {
			return usage.Errorf("--mailbox %s: there is no such mailbox; there are %q", address, known)
		}
	}
	return nil
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the tokens, without what they are", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			all, err := tokens.New(h.DB).List(ctx)
			if err != nil {
				return err
			}
			t := printer.NewTable(cmd.OutOrStdout(), "NAME", "SCOPE", "MAILBOXES", "CREATED", "ENDS", "REVOKED")
			for _, one := range all {
				t.Row(one.Name, one.Scope, cmp.Or(strings.Join(one.Mailboxes, " "), "all"), printer.Clock(one.CreatedAt),
					cmp.Or(printer.Clock(one.ExpiresAt), "without end"), printer.Clock(one.RevokedAt))
			}
			return t.Flush("no tokens: 'postroomd tokens add' makes one")
		})
	}
	return cmd
}

func revoke() *cobra.Command {
	cmd := &cobra.Command{Use: "revoke NAME", Short: "End a token at once", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			err := tokens.New(h.DB).Revoke(ctx, args[0])
			if err == nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "token %s is revoked\n", args[0])
			}
			return err
		})
	}
	return cmd
}
