package main

import (
	"context"

	"github.com/spf13/cobra"

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
