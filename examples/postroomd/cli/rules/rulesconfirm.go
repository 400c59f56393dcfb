package rules

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func rulesConfirm() *cobra.Command {
	return command.ConfirmCommand("rules", func(h *app.App) command.Confirmable {
		return command.Confirmable{What: "rules", Faults: h.Rules.Faults, Confirm: h.Rules.Confirm, Text: func(ctx context.Context, id string) (string, error) {
			r, err := h.Rules.Get(ctx, id)
			if err != nil {
				return "", err
			}
			return string(rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{*r}})), nil
		}}
	})
}
