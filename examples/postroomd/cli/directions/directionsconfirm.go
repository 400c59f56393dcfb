package directions

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/spf13/cobra"
)

func directionsConfirm() *cobra.Command {
	return command.ConfirmCommand("directions", func(h *app.App) command.Confirmable {
		return command.Confirmable{What: "directions", Faults: h.Models.Guidance.Faults, Confirm: h.Models.Guidance.Confirm, Text: func(ctx context.Context, id string) (string, error) {
			list, err := view.NewInstructions(ctx, h)
			i := slices.IndexFunc(list, func(i view.Instruction) bool { return i.ID == id })
			if err != nil || i < 0 {
				return "", errors.Join(err, postroom.ErrNotFound)
			}
			return fmt.Sprintf("%s (%s%s)\n", list[i].Text, list[i].For, printer.Unless(list[i].Enabled, ", off")), nil
		}}
	})
}
