package directions

import (
	"context"
	"fmt"
	"github.com/postroom-go/postroom/llm/guidance"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/queue"
)

func New() *cobra.Command {
	cmd := command.Group("directions", "Tell the model in your own words what to do with mail", directionsList(), directionsAdd(), directionsEdit(), directionsSwap(), directionsRemove(), directionsConfirm(),
		directionsTurn("enable", "Follow a direction again", true), directionsTurn("disable", "Keep a direction without following it", false))
	cmd.Long = "Tell the model in your own words what to do with mail that no rule matches. What a direction plainly forbids, such as\n" +
		"\"Never delete anything\", is also checked after the model has decided; what it may forbid waits for you."
	return cmd
}

func directionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the directions in the order in which the model reads them", Args: cobra.NoArgs}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			list, err := view.NewInstructions(ctx, h)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), list)
			}
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "PRIORITY", "FOR", "NAME", "", "TEXT")
			for _, i := range list {
				t.Row(i.ID, i.Priority, i.For, i.Name, printer.Unless(i.Enabled, "off"), i.Text)
			}
			return t.Flush("no directions")
		})
	}
	return cmd
}

func directionsAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add TEXT",
		Short: "Add a direction: for all mail, a mailbox, or the mail of a sender",
		Long: "Add a direction: for all mail, a mailbox, or the mail of a sender.\n\n" +
			"    postroomd directions add 'Never delete anything.'\n" +
			"    postroomd directions add --mailbox ada@example.org 'What shops send goes to Receipts.'\n" +
			"    postroomd directions add --name club --domain club.example 'Star what asks me to come.'",
		Args: cobra.ExactArgs(1),
	}
	place, address := command.NewEnvironmentFlags(cmd), cmd.Flags().String("mailbox", "", "only for mail to this mailbox")
	name := cmd.Flags().String("name", "", "a name, which those for a sender need")
	domain := cmd.Flags().String("domain", "", "only for mail from this domain")
	sender := cmd.Flags().String("sender", "", "only for mail from this address")
	priority := cmd.Flags().Int("priority", guidance.DefaultPriority, "the place in the order in which the model reads directions, low first")
	cmd.MarkFlagsMutuallyExclusive("mailbox", "domain", "sender")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *domain+*sender != "" && *name == "" {
			return usage.Errorf("a direction for a sender needs a name: add --name NAME")
		}
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			r := guidance.ScopedRule{Name: *name, Text: args[0], Enabled: true, Priority: *priority}
			switch {
			case *domain != "":
				r.Scope, r.ScopeRef = guidance.ScopeDomain, *domain
			case *sender != "":
				r.Scope, r.ScopeRef = guidance.ScopeSender, *sender
			case *address != "":
				account, err := command.Account(ctx, h, *address)
				if err != nil {
					return err
				}
				r.Scope, r.ScopeRef = guidance.ScopeAccount, account.ID
			}
			id, err := addDirection(ctx, h, r)
			if err := guidanceFault(err); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "direction %s is added; the model follows it from the next message on\n%s", id, uncheckedNote(r.Text))
			return err
		})
	}
	return cmd
}

// uncheckedNote describes to what extent decisions are not checked against a direction that forbids something; empty if they are.
func uncheckedNote(text string) string {
	if hint := (guidance.Direction{Text: text}).Unchecked(); hint != "" {
		return "note: " + hint + "\n"
	}
	return ""
}

// addDirection stores a rule, or a direction if it has no name.
func addDirection(ctx context.Context, h *app.App, r guidance.ScopedRule) (id string, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if r.Name == "" {
			d, err := h.Models.Guidance.CreateDirection(ctx, tx, guidance.Direction{AccountID: r.ScopeRef, Text: r.Text, Enabled: true, Priority: r.Priority})
			id = d.ID
			return err
		}
		saved, err := h.Models.Guidance.CreateRule(ctx, tx, r)
		id = saved.ID
		return err
	})
	return id, err
}
