package audit

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety/audit"
)

// New makes the command audit with its own commands.
func New() *cobra.Command {
	return command.Group("audit", "Examine the log of what was decided, permitted and done", auditVerify(),
		auditExport(), auditAccept())
}

// errTampered sets the exit status to failure, for scripts.
var errTampered = errors.New("the ledger is not as it was written; see above")

func auditVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Find out whether anything in the ledger was altered, removed or put back", Args: cobra.NoArgs,
		Long: `Compare all decisions, actions, approvals and events with the log of when they were written.

It prints the end of the log. Keep it where nobody can write who can write to the database, and give
it with --head the next time: somebody who can write to the database can write another log.`,
	}
	place := command.NewEnvironmentFlags(cmd)
	texts := cmd.Flags().StringSlice("head", nil, "an end of the log, as it was printed before")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var known []audit.Head
		for _, text := range *texts {
			head, err := audit.ParseHead(text)
			if err != nil {
				return usage.Errorf("--head: %w", err)
			}
			known = append(known, head)
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			found, err := h.Ledger.VerifyAudit(ctx, known)
			if err != nil {
				return err
			}
			if *asJSON {
				err = printer.JSON(cmd.OutOrStdout(), view.NewAudit(&found))
			} else {
				err = view.PrintAudit(cmd, &found)
			}
			if err == nil && len(found.Faults) > 0 {
				return errTampered
			}
			return err
		})
	}
	return cmd
}

func auditExport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Print the log, an entry a line as JSON, and at last the end of it", Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			return view.ExportAudit(ctx, h, cmd.OutOrStdout())
		})
	}
	return cmd
}
