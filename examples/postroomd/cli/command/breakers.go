package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

// PrintBreakers lists the rules or models that breakers have stopped because of their actions or undos.
func PrintBreakers(ctx context.Context, h *app.App, cmd *cobra.Command) error {
	text, err := h.OpenBreakers(ctx)
	if err != nil || text == "" {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(),
		"%s\nwhat they decide waits for a person until then; 'postroomd resume' lets them go on\n",
		printer.PrintableLines(text))
	return err
}

// CarriedOutLater is the note about jobs that no postroomd has run yet.
const CarriedOutLater = "; a postroomd that runs carries it out"
