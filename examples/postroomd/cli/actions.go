package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety"
)

func actionsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "List what was done, or is to be done, newest first",
		Args:  cobra.NoArgs,
	}
	place := command.NewEnvironmentFlags(cmd)
	states := cmd.Flags().StringSlice("state", nil, "only these states, such as completed or failed")
	types := cmd.Flags().StringSlice("type", nil, "only these actions, such as archive; undo_archive is its undo")
	rule := cmd.Flags().String("rule", "", "only what this rule decided, by its name or id")
	mailbox := cmd.Flags().String("mailbox", "", "only the mailbox of this address")
	before := cmd.Flags().String("before", "", "only what is older than the action of this id: the next page")
	sender := cmd.Flags().String("sender", "", "only mail of this address, or of this domain and those below it")
	since := cmd.Flags().String("since", "", "only what is younger, such as 24h or 7d")
	confidence := command.ConfidenceFlags(cmd)
	limit := command.LimitFlag(cmd, app.MaxListed)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := command.ActionFilter(*states, *types, *since)
		if err != nil {
			return err
		}
		filter.Sender, filter.Limit, filter.Rule = *sender, *limit, *rule
		if filter.Confidence, err = confidence(); err != nil {
			return err
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			if err := placeActions(ctx, h, &filter, *mailbox, *before); err != nil {
				return err
			}
			entries, err := h.Ledger.Actions(ctx, filter)
			if err != nil {
				return err
			}
			names, err := h.LabelNames(ctx)
			if err != nil {
				return err
			}
			if err := h.NameDeletedLabels(ctx, names, entries); err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), printer.List(entries, func(e safety.Entry) webapi.Action {
					return webapi.NewAction(e, names.Name)
				}))
			}
			if err := printActions(ctx, h, cmd, entries, names); err != nil || len(entries) < *limit {
				return err
			}
			_, err = fmt.Fprintf(cmd.ErrOrStderr(), "there may be older ones: add --before %s\n",
				printer.ShortID(entries[*limit-1].Action.ID))
			return err
		})
	}
	return cmd
}

// placeActions adds to the filter what is looked up in the database.
func placeActions(ctx context.Context, h *app.App, filter *safety.Filter, mailbox, before string) error {
	if err := command.CheckFilter(ctx, h, *filter); err != nil {
		return err
	}
	if mailbox != "" {
		account, err := command.Account(ctx, h, mailbox)
		if err != nil {
			return err
		}
		filter.AccountID = account.ID
	}
	if before == "" {
		return nil
	}
	id, err := h.ResolveAction(ctx, before)
	filter.Before = id
	return err
}

// printActions prints the table, with the mailbox of each where there are several.
func printActions(ctx context.Context, h *app.App, cmd *cobra.Command, entries []safety.Entry,
	names app.LabelNames) error {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	addresses := make(map[string]string)
	for _, a := range accounts {
		addresses[a.ID] = a.Email
	}
	columns := []string{"ID", "WHEN", "ACTION", "STATE", "BY", "FROM", "SUBJECT"}
	if len(accounts) > 1 {
		columns = append(columns, "MAILBOX")
	}
	t := printer.NewTable(cmd.OutOrStdout(), columns...)
	for _, e := range entries {
		when := e.Action.ExecutedAt
		if when.IsZero() {
			when = e.Decision.CreatedAt
		}
		row := []any{printer.ShortID(e.Action.ID), printer.Minute(when), app.Describe(e.Action, names),
			e.Action.State.Words(),
			view.DecidedBy(e.Decision.Decision), printer.Short(e.Decision.Sender, 30), printer.Short(e.Decision.Subject, 50)}
		if len(accounts) > 1 {
			row = append(row, addresses[e.Action.AccountID])
		}
		t.Row(row...)
	}
	return t.Flush("no actions")
}
