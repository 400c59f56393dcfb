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
	"github.com/postroom-go/postroom/safety/audit"
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
		Long: `Compare all decisions, actions, approvals and events with the log of when they were written.

It prints the end of the log. Keep it where nobody can write who can write to the database, and give it with --head the next time:
somebody who can write to the database can write another log.`,
	}
	place := placeFlag(cmd)
	texts := cmd.Flags().StringSlice("head", nil, "an end of the log, as it was printed before")
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var known []audit.Head
		for _, text := range *texts {
			head, err := audit.ParseHead(text)
			if err != nil {
				return usage.Errorf("--head: %w", err)
			}
			known = append(known, head)
		}
		return look(cmd, place, func(ctx context.Context, h *host) error {
			found, err := h.ledger.VerifyAudit(ctx, known)
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
func (h *host) verifyWhitelist(ctx context.Context, found *audit.Report) error {
	if !h.env.AsksDiscord() {
		return nil
	}
	_, err := discord.Whitelist(ctx, h.db, h.ledger)
	if errors.Is(err, discord.ErrWhitelistAltered) {
		found.Faults = append(found.Faults, audit.Fault{Kind: "whitelist", Subject: "discord", What: err.Error()})
		return nil
	}
	return err
}

// An auditView is what verify prints as JSON.
type auditView struct {
	Entries int64         `json:"entries"`
	Rows    int64         `json:"rows"`
	Heads   []string      `json:"heads"`
	Faults  []audit.Fault `json:"faults"`
}

func viewAudit(r *audit.Report) auditView {
	view := auditView{r.Entries, r.Rows, heads(r.Head), r.Faults}
	if view.Faults == nil {
		view.Faults = []audit.Fault{}
	}
	return view
}

// heads has the end of the log; it is empty if the log is.
func heads(end audit.Head) []string {
	if end.Entries == 0 {
		return []string{}
	}
	return []string{end.String()}
}

func printAudit(cmd *cobra.Command, a *audit.Report) error {
	f := printer.NewFields(cmd.OutOrStdout())
	f.Add("entries", a.Entries)
	f.Add("rows", a.Rows)
	for _, head := range heads(a.Head) {
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
		Use: "export", Short: "Print the log, an entry a line as JSON, and at last the end of it", Args: cobra.NoArgs,
	}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			out := json.NewEncoder(cmd.OutOrStdout())
			end, err := h.audit.Each(ctx, func(e *audit.Entry) error { return out.Encode(e) })
			if err != nil {
				return err
			}
			return out.Encode(struct {
				Heads []string `json:"heads"`
			}{heads(end)})
		})
	}
	return cmd
}

// recordSettings records the settings that apply to decisions from now on.
func (h *host) recordSettings(ctx context.Context) error {
	return h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return h.ledger.RecordSettings(ctx, tx, me()) })
}
