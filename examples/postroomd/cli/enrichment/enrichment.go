// Package enrichment is the group of commands about what mail means.
package enrichment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/enrich"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("enrich", "See what mail means, and answer what is unsure", list(), events(), show(), answer())
	cmd.Long = "See what mail means: its category and importance, what it asks you to do, and the appointments that it names; and\n" +
		"answer what is unsure. It is found out for new mail with enrich.enabled."
	return cmd
}

func list() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List what is known of mail, newest first", Args: cobra.NoArgs}
	cmd.Long = "List what is known of mail, newest first. What has a question mark is unsure; nothing waits for your answer."
	address, place := command.MailboxFlag(cmd), command.NewEnvironmentFlags(cmd)
	var f enrich.Filter
	cmd.Flags().BoolVar(&f.Unsure, "unsure", false, "only what is unsure, and you may answer")
	cmd.Flags().BoolVar(&f.HasActionItems, "action-items", false, "only mail that asks you to do something")
	cmd.Flags().BoolVar(&f.HasEvent, "events", false, "only mail that names an appointment")
	cmd.Flags().StringVar(&f.Category, "category", "", "only mail of the category")
	cmd.Flags().StringVar(&f.Level, "priority", "", "only mail of the level of importance")
	state := cmd.Flags().String("state", "", "only mail whose enrichment has the state, such as dead_letter")
	limit, asJSON := command.LimitFlag(cmd, app.MaxListed), command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			f.AccountID, f.Limit = account.ID, *limit
			if *state != "" {
				f.States = []enrich.State{enrich.State(*state)}
			}
			store, err := enrich.NewStore(h.DB)
			if err != nil {
				return err
			}
			found, err := enrichment.List(ctx, store, h.Mail, f, "")
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), found.List)
			}
			return printList(cmd.OutOrStdout(), found.List)
		})
	}
	return cmd
}

func printList(w io.Writer, found []enrichment.View) error {
	t := printer.NewTable(w, "ID", "RECEIVED", "CATEGORY", "PRIORITY", "EVENTS", "TO DO", "SUBJECT")
	for i := range found {
		v := &found[i]
		t.Row(v.MessageID, printer.Minute(v.Received), printer.Printable(v.Category.Short()),
			printer.Printable(v.Importance.Short()), printer.Unless(len(v.Events) == 0, strconv.Itoa(len(v.Events))),
			printer.Unless(len(v.ActionItems) == 0, strconv.Itoa(len(v.ActionItems))), printer.Short(v.Subject, 60))
	}
	return t.Flush("nothing is known of any mail")
}

func events() *cobra.Command {
	cmd := &cobra.Command{Use: "events", Short: "List the appointments to come that mail names", Args: cobra.NoArgs}
	cmd.Long = "List the appointments to come that mail names, the next first, with those that are at the same time.\n" +
		"What has a question mark is unsure."
	address, place := command.MailboxFlag(cmd), command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			store, err := enrich.NewStore(h.DB)
			if err != nil {
				return err
			}
			found, err := enrichment.Upcoming(ctx, store, h.Mail, account.ID, time.Now(), h.OwnZone())
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), found)
			}
			return printEvents(cmd.OutOrStdout(), found)
		})
	}
	return cmd
}

func printEvents(w io.Writer, found enrichment.Appointments) error {
	t := printer.NewTable(w, "ID", "BEGINS", "ZONE", "WHAT", "PLACE", "AT THE SAME TIME")
	for i := range found.List {
		a := &found.List[i]
		t.Row(a.MessageID, a.Start, printer.Printable(a.Zone),
			printer.Printable(printer.Short(a.Title, 40)+printer.Unless(!a.Unsure, "?")),
			printer.Printable(printer.Short(a.Place, 30)), printer.Printable(printer.Short(strings.Join(a.Conflicts, "; "), 60)))
	}
	if err := t.Flush("no mail names an appointment to come"); err != nil || found.More == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d later ones\n", found.More)
	return err
}

func show() *cobra.Command {
	cmd := &cobra.Command{Use: "show MESSAGE", Short: "Show what is known of a message, by whom and why",
		Args: cobra.ExactArgs(1)}
	address, place := command.MailboxFlag(cmd), command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			m, err := h.FindMessage(ctx, account, args[0])
			if err != nil {
				return err
			}
			store, err := enrich.NewStore(h.DB)
			if err != nil {
				return err
			}
			v, err := enrichment.Of(ctx, store, m)
			switch {
			case err != nil:
				return err
			case v == nil:
				return usage.Errorf("nothing is known of message %s: it came before enrich.enabled, or is of no mail that is "+
					"decided about", args[0])
			}
			if err := errors.Join(v.AddConflicts(ctx, store, h.Mail, m, time.Now(), h.OwnZone()),
				v.AddNotes(ctx, h.Ledger, h.Notes, m)); err != nil {
				return err
			}
			if *asJSON {
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return printView(cmd.OutOrStdout(), v)
		})
	}
	return cmd
}

func printView(w io.Writer, v *enrichment.View) error {
	out := printer.NewFields(w)
	out.Add("message", printer.Printable(v.Subject)+", from "+printer.Printable(v.From))
	for _, line := range v.Lines() {
		out.Add(line.Name, printer.Printable(line.Text))
	}
	return out.Flush()
}

func answer() *cobra.Command {
	cmd := &cobra.Command{Use: "answer MESSAGE STAGE", Short: "Say whether what was found is right",
		Args: cobra.ExactArgs(2)}
	cmd.Long = "Say whether what was found is right: the category, importance or calendar of a message. What you reject is asked of the\n" +
		"model once more, with your reason. Then rules are asked again that go by it.\n\n" +
		"    postroomd enrich answer ID category --approve\n" +
		"    postroomd enrich answer ID category --value work\n" +
		"    postroomd enrich answer ID importance --reject 'She is my aunt.'"
	address, place := command.MailboxFlag(cmd), command.NewEnvironmentFlags(cmd)
	approve := cmd.Flags().Bool("approve", false, "it is right")
	value := cmd.Flags().String("value", "", "what it is instead: one of your categories, or levels")
	reject := cmd.Flags().String("reject", "", "it is wrong, and why; the model is asked again")
	cmd.MarkFlagsMutuallyExclusive("approve", "value", "reject")
	cmd.MarkFlagsOneRequired("approve", "value", "reject")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			account, err := command.Mailbox(ctx, h, *address)
			if err != nil {
				return err
			}
			m, err := h.FindMessage(ctx, account, args[0])
			if err != nil {
				return err
			}
			word := enrich.Word{Stage: enrich.Stage(args[1]), Approve: *approve, Value: *value, Why: *reject,
				By: app.CurrentUser()}
			if err := h.AnswerMeaning(ctx, m, word); err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "noted; 'postroomd enrich show "+m.ProviderID+"' says what comes of it")
			return err
		})
	}
	return cmd
}
