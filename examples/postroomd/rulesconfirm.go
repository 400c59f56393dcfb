package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/rules"
)

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
