package undo

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/safety"
)

// confirm shows how many actions of which mailboxes the filter selects, and asks.
func (c *undoFlags) confirm(ctx context.Context, h *app.App, cmd *cobra.Command, filter safety.Filter) error {
	total, text, err := c.count(ctx, h, filter)
	if err != nil || total == 0 { // the command says that there are none
		return err
	}
	out := cmd.OutOrStdout()
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	return command.Confirm(cmd.InOrStdin(), out, command.Question{
		Text: "take back " + printer.Count(total, "action", "actions") + "?", Instead: ", or --dry-run to look only",
		Refused: "nothing was taken back",
	})
}

// planRedos prints what --redo would take back.
func (c *undoFlags) planRedos(ctx context.Context, h *app.App, cmd *cobra.Command, filter safety.Filter) error {
	if c.asJSON {
		return usage.Errorf("--json is not for the dry run of --redo")
	}
	total, text, err := c.count(ctx, h, filter)
	if err == nil {
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s would be taken back\n%s", printer.Count(total, "undo", "undos"), text)
	}
	return err
}

// count counts what the command would take back, by mailbox and kind.
func (c *undoFlags) count(ctx context.Context, h *app.App, filter safety.Filter) (total int, text string, err error) {
	counts := make(map[string]map[postroom.ActionType]int)
	for a, err := range c.selected(ctx, h, filter) {
		if err != nil {
			return 0, "", err
		}
		if counts[a.AccountID] == nil {
			counts[a.AccountID] = make(map[postroom.ActionType]int)
		}
		counts[a.AccountID][a.Type]++
		total++
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return 0, "", err
	}
	var b strings.Builder
	line := func(mailbox string, of map[postroom.ActionType]int) {
		var kinds []string
		for _, t := range slices.Sorted(maps.Keys(of)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", of[t], t))
		}
		fmt.Fprintf(&b, "  %s: %s\n", mailbox, strings.Join(kinds, ", "))
	}
	for _, a := range accounts {
		if of := counts[a.ID]; of != nil {
			line(a.Email, of)
			delete(counts, a.ID)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		line("mailbox "+id+", which was removed", counts[id])
	}
	return total, b.String(), nil
}

// selected yields what the command would take back.
func (c *undoFlags) selected(ctx context.Context, h *app.App, filter safety.Filter) iter.Seq2[postroom.Action, error] {
	if c.redo {
		return h.Undoer.Redos(ctx, filter, true)
	}
	return func(yield func(postroom.Action, error) bool) {
		for r, err := range h.Undoer.PlanAll(ctx, filter, true) {
			if (err != nil || r.Ending.Undone()) && !yield(r.Action, err) {
				return
			}
		}
	}
}
