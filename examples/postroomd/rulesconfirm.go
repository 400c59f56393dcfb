package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// A record connects the store of rules with the ledger, which is made after them.
type record struct{ *safety.Ledger }

// A confirmable is a store whose content people confirm.
type confirmable struct {
	what    string // in the plural
	faults  func(context.Context) ([]postroom.RuleFault, error)
	confirm func(ctx context.Context, tx queue.Tx, id string) error
	text    func(ctx context.Context, id string) (string, error) // what is stored; empty if nothing is
}

func rulesConfirm() *cobra.Command {
	return confirmCommand("rules", func(h *host) confirmable {
		return confirmable{"rules", h.rules.Faults, h.rules.Confirm, func(ctx context.Context, id string) (string, error) {
			r, err := h.rules.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return string(rules.Marshal(&rules.File{Rules: []rules.Rule{*r}})), nil
		}}
	})
}

func confirmCommand(what string, of func(h *host) confirmable) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm [ID...]", Short: "List the " + what + " that something else than postroomd has written, or confirm them",
		Long: "List the " + what + " that something else than postroomd has altered, added or removed in the database, or sign those with the ids as\n" +
			"they are. While there are any, a person is asked about what " + what + " decide.",
	}
	place := placeFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return look(cmd, place, func(ctx context.Context, h *host) error {
			c := of(h)
			text, err := h.faultsText(ctx, c)
			if len(ids) > 0 && err == nil {
				text, err = h.confirmAll(ctx, c, ids)
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), printer.PrintableLines(text))
			return err
		})
	}
	return cmd
}

// faultsText lists the altered rules.
func (h *host) faultsText(ctx context.Context, c confirmable) (string, error) {
	faults, err := c.faults(ctx)
	if err != nil || len(faults) == 0 {
		return "all " + c.what + " are as they were written\n", err
	}
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "%s %s\n", f.ID, f.What)
		text, err := c.text(ctx, f.ID)
		if err != nil && !errors.Is(err, postroom.ErrNotFound) {
			return "", err
		}
		for line := range strings.Lines(text) {
			b.WriteString("    " + line)
		}
	}
	return b.String(), nil
}

func (h *host) confirmAll(ctx context.Context, c confirmable, ids []string) (string, error) {
	err := h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, id := range ids {
			err := c.confirm(ctx, tx, id)
			if errors.Is(err, postroom.ErrNotFound) {
				err = usage.Errorf("none of the %s has the id %s, and nothing is confirmed; 'postroomd %s confirm' lists those that wait for it", c.what, id, c.what)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return printer.Count(len(ids), strings.TrimSuffix(c.what, "s")+" is", c.what+" are") + " confirmed\n", err
}
