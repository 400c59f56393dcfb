package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

func directionsEdit() *cobra.Command {
	var p guidance.ScopedRulePatch // of which a direction has a part
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change the text or the priority of a direction",
		Long: "Change the text or the priority of a direction. With --revision it is changed only as you have seen it: 'directions list --json'\n" +
			"has the number.",
	}
	text := cmd.Flags().String("text", "", "what the model is told")
	priority := cmd.Flags().Int("priority", 0, "the place in the order in which the model reads directions, low first")
	cmd.Flags().Int64Var(&p.Revision, "revision", 0, "change it only if it is at this revision")
	cmd.MarkFlagsOneRequired("text", "priority")
	cmd.PostRunE = func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprint(cmd.OutOrStdout(), uncheckedNote(*text))
		return err
	}
	return directionsChange(cmd, "changed", func(ctx context.Context, h *host, tx queue.Tx, i instruction) (err error) {
		if cmd.Flags().Changed("text") {
			p.Text = text
		}
		if cmd.Flags().Changed("priority") {
			p.Priority = priority
		}
		if i.rule != nil {
			_, err = h.guide.PatchRule(ctx, tx, i.ID, p)
			return err
		}
		_, err = h.guide.PatchDirection(ctx, tx, i.ID, guidance.DirectionPatch{Text: p.Text, Priority: p.Priority, Revision: p.Revision})
		return err
	})
}

func directionsSwap() *cobra.Command {
	cmd := &cobra.Command{Use: "swap ID ID", Short: "Exchange the priorities of two directions", Args: cobra.ExactArgs(2)}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			a, err := h.instruction(ctx, args[0])
			if err != nil {
				return err
			}
			b, err := h.instruction(ctx, args[1])
			if err != nil {
				return err
			}
			if (a.rule == nil) != (b.rule == nil) {
				return usage.Errorf("one of them has a name and the other has none; the model reads those without a name first, whatever their priorities")
			}
			swap := h.guide.SwapDirections
			if a.rule != nil {
				swap = h.guide.SwapRules
			}
			err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return swap(ctx, tx, a.ID, b.ID) })
			if err := guidanceFault(err); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "direction %s has priority %d, and %s has %d\n", a.ID, b.Priority, b.ID, a.Priority)
			return err
		})
	}
	return cmd
}

func directionsRemove() *cobra.Command {
	return directionsChange(&cobra.Command{Use: "remove ID", Short: "Remove a direction"}, "removed",
		func(ctx context.Context, h *host, tx queue.Tx, i instruction) error {
			if i.rule != nil {
				return h.guide.DeleteRule(ctx, tx, i.ID)
			}
			return h.guide.DeleteDirection(ctx, tx, i.ID)
		})
}

func directionsTurn(use, short string, on bool) *cobra.Command {
	return directionsChange(&cobra.Command{Use: use + " ID", Short: short}, use+"d",
		func(ctx context.Context, h *host, tx queue.Tx, i instruction) (err error) {
			if i.rule != nil {
				_, err = h.guide.PatchRule(ctx, tx, i.ID, guidance.ScopedRulePatch{Enabled: &on})
				return err
			}
			_, err = h.guide.PatchDirection(ctx, tx, i.ID, guidance.DirectionPatch{Enabled: &on})
			return err
		})
}

// directionsChange makes a command that changes the direction with the given prefix of its id.
func directionsChange(cmd *cobra.Command, done string, change func(context.Context, *host, queue.Tx, instruction) error) *cobra.Command {
	cmd.Args = cobra.ExactArgs(1)
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			i, err := h.instruction(ctx, args[0])
			if err != nil {
				return err
			}
			err = h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return change(ctx, h, tx, i) })
			if err := guidanceFault(err); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "direction %s is %s\n", i.ID, done)
			return err
		})
	}
	return cmd
}

// guidanceFault converts an error about a useless request into a usage error.
func guidanceFault(err error) error {
	switch {
	case errors.Is(err, postroom.ErrNotFound):
		return usage.Errorf("%w: it has been removed meanwhile", err)
	case errors.Is(err, guidance.ErrInvalid), errors.Is(err, guidance.ErrChanged), errors.Is(err, guidance.ErrNameTaken), errors.Is(err, guidance.ErrSame),
		errors.Is(err, guidance.ErrAltered):
		return usage.Wrap(err)
	}
	return err
}

// instruction returns the direction or rule with the given prefix of its id.
func (h *host) instruction(ctx context.Context, id string) (instruction, error) {
	list, err := h.instructions(ctx)
	if err != nil {
		return instruction{}, err
	}
	prefix := strings.ToLower(strings.TrimSpace(id))
	list = slices.DeleteFunc(list, func(i instruction) bool { return prefix == "" || !strings.HasPrefix(i.ID, prefix) })
	if len(list) != 1 {
		return instruction{}, usage.Errorf("%d directions have an id that begins with %q; 'postroomd directions list' lists them", len(list), id)
	}
	return list[0], nil
}
