package accounts

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/firstlook"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

func accountsLook() *cobra.Command {
	cmd := &cobra.Command{Use: "look ADDRESS", Short: "Say what the newest mail of a mailbox is, and which rules would sort it",
		Args: cobra.ExactArgs(1),
		Long: "Say what the newest 1,000 messages of a mailbox are, and which labels and rules would sort them. Nothing is applied. To\n" +
			"take the rules into a file:\n\n    postroomd accounts look ADDRESS --rules > suggested.yaml"}
	place := command.NewEnvironmentFlags(cmd)
	last := cmd.Flags().Bool("last", false, "show the report that is there, and look at nothing")
	asRules := cmd.Flags().Bool("rules", false, "print the suggested rules alone, as a file of rules")
	asJSON := command.JSONFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("rules", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Account(ctx, h, args[0])
			if err != nil {
				return err
			}
			if !*last {
				if done, err := firstlook.Look(ctx, h, account); err != nil || !done {
					return sayEnqueued(cmd, err)
				}
			}
			v, err := firstlook.Read(ctx, h, account)
			switch {
			case firstlook.IsMissing(err):
				return fmt.Errorf("nobody has looked at %s yet: leave out --last: %w", account.Email, err)
			case err != nil:
				return err
			case *asRules:
				_, err = fmt.Fprint(cmd.OutOrStdout(), v.YAML)
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}

func sayEnqueued(cmd *cobra.Command, err error) error {
	if err == nil {
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "the job is enqueued; a running postroomd does it, and --last shows the report then")
	}
	return err
}
