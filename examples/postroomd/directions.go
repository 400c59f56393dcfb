package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

func directionsCommand() *cobra.Command {
	cmd := group("directions", "Tell the model in your own words what to do with mail", directionsList(), directionsAdd(), directionsEdit(), directionsSwap(), directionsRemove(), directionsConfirm(),
		directionsTurn("enable", "Follow a direction again", true), directionsTurn("disable", "Keep a direction without following it", false))
	cmd.Long = "Tell the model in your own words what to do with mail that no rule matches. What a direction plainly forbids, such as\n" +
		"\"Never delete anything\", is also checked after the model has decided; what it may forbid waits for you."
	return cmd
}

// An instruction is a direction or a rule for the model.
type instruction struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"` // of a rule
	For       string    `json:"for"`            // all mail, a mailbox, a domain or a sender
	Text      string    `json:"text"`
	Enabled   bool      `json:"enabled"`
	Priority  int       `json:"priority"`
	Revision  int64     `json:"revision"`
	CreatedAt time.Time `json:"created_at"`

	direction *guidance.Direction // else a rule
	rule      *guidance.ScopedRule
}

func (h *host) instructions(ctx context.Context) ([]instruction, error) {
	accounts, err := h.mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	directions, err := h.guide.Directions(ctx)
	if err != nil {
		return nil, err
	}
	list := printer.List(directions, func(d guidance.Direction) instruction { return ofDirection(d, accounts) })
	rules, err := h.guide.Rules(ctx)
	return append(list, printer.List(rules, func(r guidance.ScopedRule) instruction { return ofRule(r, accounts) })...), err
}

func ofDirection(d guidance.Direction, accounts []gmail.Account) instruction {
	about := "all mail"
	if d.AccountID != "" {
		about = emailOf(accounts, d.AccountID)
	}
	return instruction{ID: d.ID, For: about, Text: d.Text, Enabled: d.Enabled, Priority: d.Priority, Revision: d.Revision, CreatedAt: d.CreatedAt, direction: &d}
}

func ofRule(r guidance.ScopedRule, accounts []gmail.Account) instruction {
	about := "all mail"
	switch r.Scope {
	case guidance.ScopeAccount:
		about = emailOf(accounts, r.ScopeRef)
	case guidance.ScopeDomain, guidance.ScopeSender:
		about = "mail from " + r.ScopeRef
	}
	return instruction{
		ID: r.ID, Name: r.Name, For: about, Text: r.Text, Enabled: r.Enabled, Priority: r.Priority, Revision: r.Revision, CreatedAt: r.CreatedAt, rule: &r,
	}
}

func directionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the directions in the order in which the model reads them", Args: cobra.NoArgs}
	place := placeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			list, err := h.instructions(ctx)
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
	place, address := placeFlag(cmd), cmd.Flags().String("mailbox", "", "only for mail to this mailbox")
	name := cmd.Flags().String("name", "", "a name, which those for a sender need")
	domain := cmd.Flags().String("domain", "", "only for mail from this domain")
	sender := cmd.Flags().String("sender", "", "only for mail from this address")
	priority := cmd.Flags().Int("priority", guidance.DefaultPriority, "the place in the order in which the model reads directions, low first")
	cmd.MarkFlagsMutuallyExclusive("mailbox", "domain", "sender")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *domain+*sender != "" && *name == "" {
			return usage.Errorf("a direction for a sender needs a name: add --name NAME")
		}
		return look(cmd, place, func(ctx context.Context, h *host) error {
			r := guidance.ScopedRule{Name: *name, Text: args[0], Enabled: true, Priority: *priority}
			switch {
			case *domain != "":
				r.Scope, r.ScopeRef = guidance.ScopeDomain, *domain
			case *sender != "":
				r.Scope, r.ScopeRef = guidance.ScopeSender, *sender
			case *address != "":
				account, err := h.account(ctx, *address)
				if err != nil {
					return err
				}
				r.Scope, r.ScopeRef = guidance.ScopeAccount, account.ID
			}
			id, err := h.addDirection(ctx, r)
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
func (h *host) addDirection(ctx context.Context, r guidance.ScopedRule) (id string, err error) {
	err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if r.Name == "" {
			d, err := h.guide.CreateDirection(ctx, tx, guidance.Direction{AccountID: r.ScopeRef, Text: r.Text, Enabled: true, Priority: r.Priority})
			id = d.ID
			return err
		}
		saved, err := h.guide.CreateRule(ctx, tx, r)
		id = saved.ID
		return err
	})
	return id, err
}
