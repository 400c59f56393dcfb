package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/spf13/cobra"
)

func directionsConfirm() *cobra.Command {
	return confirmCommand("directions", func(h *host) confirmable {
		return confirmable{"directions", h.models.guide.Faults, h.models.guide.Confirm, func(ctx context.Context, id string) (string, error) {
			list, err := newInstructions(ctx, h)
			i := slices.IndexFunc(list, func(i instruction) bool { return i.ID == id })
			if err != nil || i < 0 {
				return "", errors.Join(err, postroom.ErrNotFound)
			}
			return fmt.Sprintf("%s (%s%s)\n", list[i].Text, list[i].For, printer.Unless(list[i].Enabled, ", off")), nil
		}}
	})
}
