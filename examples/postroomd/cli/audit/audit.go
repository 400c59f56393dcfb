package audit

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
)

func New() *cobra.Command {
	return command.Group("audit", "Examine the log of what was decided, permitted and done", auditVerify(), auditExport(), auditAccept())
}

// errTampered sets the exit status to failure, for scripts.
var errTampered = errors.New("the ledger is not as it was written; see above")

func auditVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Find out whether anything in the ledger was altered, removed or put back", Args: cobra.NoArgs,
		Long: `Compare all decisions, actions, approvals and events with the log that was signed when they were written.

It prints the ends of the log. Keep them where nobody can write who can write to the database, and give them with --head the next
time: a database that was put back as a whole to an earlier day does not show otherwise.`,
	}
	place := command.NewEnvironmentFlags(cmd)
	texts := cmd.Flags().StringSlice("head", nil, "an end of the log, as it was printed before")
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var heads []safety.AuditHead
		for _, text := range *texts {
			head, err := safety.ParseAuditHead(text)
			if err != nil {
				return usage.Errorf("--head: %w", err)
			}
			heads = append(heads, head)
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			found, err := h.Ledger.VerifyAudit(ctx, heads)
			if err == nil {
				err = verifyWhitelist(ctx, h, &found)
			}
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

// verifyWhitelist adds a fault if the Discord whitelist was altered.
func verifyWhitelist(ctx context.Context, h *app.App, found *safety.Audit) error {
	if !h.Env.AsksDiscord() {
		return nil
	}
	_, err := discord.Whitelist(ctx, h.DB, h.Ledger)
	if errors.Is(err, discord.ErrWhitelistAltered) {
		found.Faults = append(found.Faults, safety.AuditFault{Kind: "whitelist", Subject: "discord", What: err.Error()})
		return nil
	}
	return err
}

func auditExport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Print the log, an entry a line as JSON, and at last the ends of it", Args: cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			out := json.NewEncoder(cmd.OutOrStdout())
			heads, err := h.Ledger.EachAuditEntry(ctx, func(e safety.AuditEntry) error { return out.Encode(e) })
			if err != nil {
				return err
			}
			return out.Encode(struct {
				Heads []string `json:"heads"`
			}{view.NewAudit(&safety.Audit{Heads: heads}).Heads})
		})
	}
	return cmd
}
