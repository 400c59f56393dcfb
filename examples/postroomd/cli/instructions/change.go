package instructions

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

func instructionsChange() *cobra.Command {
	var p guidance.Patch
	cmd := &cobra.Command{
		Use: "change ID", Short: "Change the text of an instruction, what it forbids, or its priority",
		Args: cobra.ExactArgs(1),
		Long: "Change the text of an instruction, what it forbids, or its priority. With --revision it is changed only as you have seen it:\n" +
			"'instructions list --json' has the number. --forbid replaces what was forbidden; --forbid '' forbids nothing.",
	}
	place := command.NewEnvironmentFlags(cmd)
	text := cmd.Flags().String("text", "", "what the model is told")
	forbid := forbidFlag(cmd)
	open := cmd.Flags().Bool("unauthenticated", false, unauthenticated)
	priority := cmd.Flags().Int("priority", 0, "the place in the order in which the model reads instructions, low first")
	cmd.Flags().Int64Var(&p.Revision, "revision", 0, "change it only if it is at this revision")
	cmd.MarkFlagsOneRequired("text", "forbid", "priority", "unauthenticated")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("text") {
			p.Text = text
		}
		if cmd.Flags().Changed("forbid") {
			p.Forbids = new(kindsOf(*forbid))
		}
		if cmd.Flags().Changed("unauthenticated") {
			p.Unauthenticated = open
		}
		if cmd.Flags().Changed("priority") {
			p.Priority = priority
		}
		return lookInstruction(cmd, place, args[0], func(h *app.App, id string) error {
			return printChanged(cmd, h, "changed", func(ctx context.Context, tx queue.Tx) (guidance.Instruction, error) {
				return h.InstructedBy(app.CurrentUser()).Patch(ctx, tx, id, p)
			})
		})
	}
	return cmd
}

func instructionsTurn(use, short string, on bool) *cobra.Command {
	cmd := &cobra.Command{Use: use + " ID", Short: short, Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return lookInstruction(cmd, place, args[0], func(h *app.App, id string) error {
			err := h.DB.Write(cmd.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := h.InstructedBy(app.CurrentUser()).Patch(ctx, tx, id, guidance.Patch{Enabled: &on})
				return err
			})
			return printDone(cmd, err, "instruction %s is %s\n", id, use+"d")
		})
	}
	return cmd
}

func instructionsRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove ID", Short: "Remove an instruction, and what it forbids", Args: cobra.ExactArgs(1)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return lookInstruction(cmd, place, args[0], func(h *app.App, id string) error {
			err := h.DB.Write(cmd.Context(), func(ctx context.Context, tx queue.Tx) error {
				return h.InstructedBy(app.CurrentUser()).Delete(ctx, tx, id)
			})
			return printDone(cmd, err, "instruction %s is removed\n", id)
		})
	}
	return cmd
}

func instructionsSwap() *cobra.Command {
	cmd := &cobra.Command{Use: "swap ID ID", Short: "Exchange the priorities of two instructions",
		Args: cobra.ExactArgs(2)}
	place := command.NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			a, err := findInstruction(ctx, h, args[0])
			if err != nil {
				return err
			}
			b, err := findInstruction(ctx, h, args[1])
			if err != nil {
				return err
			}
			if a.Scope.OfSender() != b.Scope.OfSender() {
				return usage.Errorf(
					"one of them is for senders and the other is not; the model reads those for all mail and for mailboxes first, " +
						"whatever their priorities")
			}
			err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
				return h.InstructedBy(app.CurrentUser()).Swap(ctx, tx, a.ID, b.ID)
			})
			return printDone(cmd, err, "instruction %s has priority %d, and %s has %d\n", a.ID, b.Priority, b.ID, a.Priority)
		})
	}
	return cmd
}

// lookInstruction opens the host and finds the instruction with the given prefix of its id.
func lookInstruction(cmd *cobra.Command, place *command.EnvironmentFlags, prefix string,
	fn func(h *app.App, id string) error) error {
	return command.WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
		i, err := findInstruction(ctx, h, prefix)
		if err != nil {
			return err
		}
		return fn(h, i.ID)
	})
}

func printDone(cmd *cobra.Command, err error, format string, args ...any) error {
	if err := instructionFault(err); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), format, args...)
	return err
}

// instructionFault converts an error about a useless request into a usage error.
func instructionFault(err error) error {
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return usage.Errorf("%w: it has been removed meanwhile", err)
	case errors.Is(err, guidance.ErrInvalid), errors.Is(err, guidance.ErrChanged), errors.Is(err, guidance.ErrSame):
		return usage.Wrap(err)
	}
	return err
}

// NewMoved refuses the commands of before, with the new one's name.
func NewMoved(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: "Use instructions", Hidden: true, DisableFlagParsing: true, Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return usage.Errorf("%s are instructions now: 'postroomd instructions %s'", name,
				strings.Join(args[:min(1, len(args))], ""))
		},
	}
}

// findInstruction returns the instruction with the given prefix of its id.
func findInstruction(ctx context.Context, h *app.App, id string) (view.Instruction, error) {
	list, err := view.NewInstructions(ctx, h)
	if err != nil {
		return view.Instruction{}, err
	}
	list = slices.DeleteFunc(list, func(i view.Instruction) bool { return !app.MatchesID(i.ID, id) })
	_, err = app.OneID(printer.List(list, func(i view.Instruction) string { return i.ID }), "instruction", id,
		"postroomd instructions list")
	if err != nil {
		return view.Instruction{}, err
	}
	return list[0], nil
}
