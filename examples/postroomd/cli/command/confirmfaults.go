package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
	"github.com/spf13/cobra"
)

// A Confirmable is a store whose content people confirm.
type Confirmable struct {
	What    string // in the plural
	Faults  func(context.Context) ([]postroom.RuleFault, error)
	Confirm func(ctx context.Context, tx queue.Tx, id string) error
	Text    func(ctx context.Context, id string) (string, error) // What is stored; empty if nothing is
}

func ConfirmCommand(what string, of func(h *app.App) Confirmable) *cobra.Command {
	cmd := &cobra.Command{
		Use: "confirm [ID...]", Short: "List the " + what + " that something else than postroomd has written, or confirm them",
		Long: "List the " + what + " that something else than postroomd has altered, added or removed in the database, or sign those with the ids as\n" +
			"they are. While there are any, a person is asked about what " + what + " decide.",
	}
	place := NewEnvironmentFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		return WithReader(cmd, place, func(ctx context.Context, h *app.App) error {
			c := of(h)
			text, err := faultsText(ctx, c)
			if len(ids) > 0 && err == nil {
				text, err = confirmAll(ctx, h, c, ids)
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
func faultsText(ctx context.Context, c Confirmable) (string, error) {
	faults, err := c.Faults(ctx)
	if err != nil || len(faults) == 0 {
		return "all " + c.What + " are as they were written\n", err
	}
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintf(&b, "%s %s\n", f.ID, f.What)
		text, err := c.Text(ctx, f.ID)
		if err != nil && !errors.Is(err, postroom.ErrNotFound) {
			return "", err
		}
		for line := range strings.Lines(text) {
			b.WriteString("    " + line)
		}
	}
	return b.String(), nil
}

func confirmAll(ctx context.Context, h *app.App, c Confirmable, ids []string) (string, error) {
	err := h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, id := range ids {
			err := c.Confirm(ctx, tx, id)
			if errors.Is(err, postroom.ErrNotFound) {
				err = usage.Errorf("none of the %s has the id %s, and nothing is confirmed; 'postroomd %s confirm' lists those that wait for it", c.What, id, c.What)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return printer.Count(len(ids), strings.TrimSuffix(c.What, "s")+" is", c.What+" are") + " confirmed\n", err
}
