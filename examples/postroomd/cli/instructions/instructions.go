// Package instructions is the group of commands about instructions to the model.
package instructions

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// New makes the command.
func New() *cobra.Command {
	cmd := command.Group("instructions",
		"Tell the model in your own words what to do with mail, and forbid it what it must not do",
		instructionsList(), instructionsAdd(), instructionsChange(), instructionsSwap(), instructionsRemove(),
		instructionsTurn("enable", "Follow an instruction again", true),
		instructionsTurn("disable", "Keep an instruction without following it", false))
	cmd.Long = "Tell the model in your own words what to do with mail that no rule matches. The text is advice. What is forbidden with --forbid\n" +
		"is binding: no decision of a model does it, whatever the model says."
	return cmd
}

func instructionsList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the instructions in the order in which the model reads them",
		Args: cobra.NoArgs}
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
			t := printer.NewTable(cmd.OutOrStdout(), "ID", "PRIORITY", "FOR", "NAME", "", "FORBIDS", "TEXT")
			for _, i := range list {
				t.Row(printer.ShortID(i.ID), i.Priority, i.For, i.Name, printer.Unless(i.Enabled, "off"),
					strings.Join(view.KindNames(i.Forbids), ", "), i.Text)
			}
			return t.Flush("no instructions")
		})
	}
	return cmd
}

func instructionsAdd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add [TEXT]",
		Short: "Add an instruction: for all mail, a mailbox, or the mail of a domain or a sender",
		Long: "Add an instruction: for all mail, a mailbox, or the mail of a domain or a sender. It prints what of it is binding.\n\n" +
			"    postroomd instructions add --forbid delete,trash 'Never delete anything.'\n" +
			"    postroomd instructions add --mailbox ada@example.org 'What shops send goes to Receipts.'\n" +
			"    postroomd instructions add --domain club.example 'Star what asks me to come.'",
		Args: cobra.MaximumNArgs(1),
	}
	place, address := command.NewEnvironmentFlags(cmd), cmd.Flags().String("mailbox", "", "only for mail to this mailbox")
	domain := cmd.Flags().String("domain", "", "only for mail from this domain")
	sender := cmd.Flags().String("sender", "", "only for mail from this address")
	i := guidance.Instruction{Enabled: true}
	cmd.Flags().StringVar(&i.Name, "name", "", "a name")
	forbid := forbidFlag(cmd)
	cmd.Flags().BoolVar(&i.Unauthenticated, "unauthenticated", false, unauthenticated)
	cmd.Flags().IntVar(&i.Priority, "priority", guidance.DefaultPriority,
		"the place in the order in which the model reads instructions, low first")
	cmd.MarkFlagsMutuallyExclusive("mailbox", "domain", "sender")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			i.Text = args[0]
		}
		i.Forbids = kindsOf(*forbid)
		return command.WithNew(cmd, place, func(ctx context.Context, h *app.App) (err error) {
			if i.Scope, i.ScopeRef, err = instructionScope(ctx, h, *address, *domain, *sender); err != nil {
				return err
			}
			if i.Unauthenticated && !i.Scope.OfSender() {
				return usage.Errorf("--unauthenticated is for an instruction about a domain or a sender")
			}
			return printChanged(cmd, h, "added", func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
				return h.InstructedBy(app.CurrentUser()).Create(ctx, tx, i)
			})
		})
	}
	return cmd
}

func forbidFlag(cmd *cobra.Command) *[]string {
	return cmd.Flags().StringSlice("forbid", nil,
		"a kind of action that no model does with this mail, such as archive; several with commas")
}

func kindsOf(names []string) []postroom.ActionType {
	return printer.List(names, func(name string) postroom.ActionType { return postroom.ActionType(name) })
}

// instructionScope returns the mail that the flags name.
func instructionScope(ctx context.Context, h *app.App, address, domain, sender string) (guidance.Scope, string, error) {
	switch {
	case domain != "":
		return guidance.ScopeDomain, domain, nil
	case sender != "":
		return guidance.ScopeSender, sender, nil
	case address != "":
		account, err := command.Account(ctx, h, address)
		return guidance.ScopeMailbox, account.ID, err
	}
	return guidance.ScopeAll, "", nil
}

// printChanged makes a change, and prints what of the instruction is binding now.
func printChanged(cmd *cobra.Command, h *app.App, done string,
	change func(context.Context, queue.Tx) (guidance.Instruction, error)) error {
	var changed guidance.Instruction
	err := h.DB.Write(cmd.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = change(ctx, tx)
		return err
	})
	if err := instructionFault(err); err != nil {
		return err
	}
	views, err := view.InstructionsWithMailboxes(cmd.Context(), h, []guidance.Instruction{changed})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "instruction %s is %s, from the next message on\n%s", changed.ID, done,
		printer.PrintableLines(views[0].Effect()))
	return err
}

// unauthenticated describes the flag.
const unauthenticated = "the text is also about mail that only claims to be of the domain or sender, and is not verified"
