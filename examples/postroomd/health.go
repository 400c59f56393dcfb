package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func jobsExplain() *cobra.Command {
	cmd := &cobra.Command{Use: "explain ID", Short: "Tell why a job does not run", Args: cobra.ExactArgs(1)}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			e, err := queueadmin.Explain(ctx, h.queue, args[0])
			if err != nil {
				return noJob(err, args[0], "postroomd jobs list")
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(e.Reasons, viewReason))
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
	cmd := &cobra.Command{Use: "doctor", Short: "Examine the database and what the queue promises of it", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			findings, err := queueadmin.Doctor(ctx, h.queue)
			if err != nil {
				return err
			}
			if *asJSON {
				err = printer.JSON(cmd.OutOrStdout(), printer.List(findings, viewFinding))
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
