package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
)

func auditCommand() *cobra.Command {
	return group("audit", "Examine the log of what was decided, permitted and done", auditVerify(), auditExport(), auditAccept())
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
	place := placeFlag(cmd)
	texts := cmd.Flags().StringSlice("head", nil, "an end of the log, as it was printed before")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var heads []safety.AuditHead
		for _, text := range *texts {
			head, err := safety.ParseAuditHead(text)
			if err != nil {
				return usage.Errorf("--head: %w", err)
			}
			heads = append(heads, head)
		}
		return look(cmd, place, func(ctx context.Context, h *host) error {
			found, err := h.ledger.VerifyAudit(ctx, heads)
			if err == nil {
				err = h.verifyWhitelist(ctx, &found)
			}
			if err != nil {
				return err
			}
			if *asJSON {
				err = printer.JSON(cmd.OutOrStdout(), viewAudit(&found))
			} else {
				err = printAudit(cmd, &found)
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
func (h *host) verifyWhitelist(ctx context.Context, found *safety.Audit) error {
	if !h.env.AsksDiscord() {
		return nil
	}
	_, err := discord.Whitelist(ctx, h.db, h.ledger)
	if errors.Is(err, discord.ErrWhitelistAltered) {
		found.Faults = append(found.Faults, safety.AuditFault{Kind: "whitelist", Subject: "discord", What: err.Error()})
		return nil
	}
	return err
}

// An auditView is what verify prints as JSON.
type auditView struct {
	Entries  int64               `json:"entries"`
	Rows     int64               `json:"rows"`
	Before   int64               `json:"rows_from_before"`
	OtherKey int64               `json:"signed_with_another_key"`
	Heads    []string            `json:"heads"`
	Faults   []safety.AuditFault `json:"faults"`
}

func viewAudit(a *safety.Audit) auditView {
	view := auditView{a.Entries, a.Rows, a.Before, a.OtherKey, []string{}, a.Faults}
	for _, head := range a.Heads {
		view.Heads = append(view.Heads, head.String())
	}
	if view.Faults == nil {
		view.Faults = []safety.AuditFault{}
	}
	return view
}

func printAudit(cmd *cobra.Command, a *safety.Audit) error {
	f := printer.NewFields(cmd.OutOrStdout())
	f.Add("entries", a.Entries)
	f.Add("rows", a.Rows)
	if a.Before > 0 {
		f.Add("rows from before", fmt.Sprintf("%d, about which the log says nothing", a.Before))
	}
	if a.OtherKey > 0 {
		f.Add("not checked", fmt.Sprintf("%d, which are signed with another key", a.OtherKey))
	}
	for _, head := range a.Heads {
		f.Add("head", head)
	}
	for _, fault := range a.Faults {
		f.Add("fault", fmt.Sprintf("%s %s: %s", fault.Kind, fault.Subject, fault.What))
	}
	if len(a.Faults) == 0 {
		f.Add("faults", "none")
	}
	return f.Flush()
}

func auditExport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "export", Short: "Print the log, an entry a line as JSON, and at last the ends of it", Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			out := json.NewEncoder(cmd.OutOrStdout())
			heads, err := h.ledger.EachAuditEntry(ctx, func(e safety.AuditEntry) error { return out.Encode(e) })
			if err != nil {
				return err
			}
			return out.Encode(struct {
				Heads []string `json:"heads"`
			}{viewAudit(&safety.Audit{Heads: heads}).Heads})
		})
	}
	return cmd
}

// recordSettings records the settings that apply to decisions from now on.
func (h *host) recordSettings(ctx context.Context) error {
	return h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.ledger.RecordSettings(ctx, tx, me()) })
}
