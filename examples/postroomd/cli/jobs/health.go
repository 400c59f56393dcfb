package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func jobsExplain() *cobra.Command {
	cmd := &cobra.Command{Use: "explain ID", Short: "Tell why a job does not run", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			id, err := h.ResolveJob(ctx, args[0], "postroomd jobs list")
			if err != nil {
				return err
			}
			e, err := queueadmin.Explain(ctx, h.Queue, id)
			if err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(e.Reasons, view.NewReason))
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), printer.PrintableLines(e.String()))
			return err
		})
	}
	return cmd
}

// errUnwell sets the exit status to failure, for scripts.
var errUnwell = errors.New("there are problems; see above")

func jobsDoctor() *cobra.Command {
	cmd := &cobra.Command{Use: "doctor", Short: "Examine the database and what the queue promises of it",
		Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			findings, err := queueadmin.Doctor(ctx, h.Queue)
			if err != nil {
				return err
			}
			if *asJSON {
				err = printer.JSON(cmd.OutOrStdout(), printer.List(findings, view.NewFinding))
			} else {
				err = printFindings(cmd, findings)
			}
			for _, f := range findings {
				if f.Severity == queueadmin.SeverityProblem {
					return errors.Join(err, errUnwell)
				}
			}
			return err
		})
	}
	return cmd
}

func printFindings(cmd *cobra.Command, findings []queueadmin.Finding) error {
	for _, f := range findings {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), printer.Printable(f.String())); err != nil {
			return err
		}
	}
	return nil
}
