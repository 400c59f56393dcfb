package approvals

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func approvalsShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show an action that waits for a person, with the mail that it is about and the message that it sends",
		Long: "Show an action that waits for a person: when the mail that it is about came, and how that begins. Of one that sends a\n" +
			"message the message is composed now: its header, files and text are shown as they will be sent, or why it must not be.\n" +
			"Approved later, these bytes are sent or none; the date is added when they are.",
		Args: cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	asJSON := command.JSONFlag(cmd)
	raw := cmd.Flags().Bool("raw", false, "print only the bytes of the message, in the form of RFC 5322")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *raw && *asJSON {
			return usage.Errorf("--raw prints bytes and --json prints JSON; choose one")
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			w, err := h.WaitingRequest(ctx, args[0])
			if err != nil {
				return err
			}
			message, err := h.Preview(ctx, w.Action)
			if err != nil {
				return err
			}
			switch {
			case *raw && message == nil:
				return usage.Errorf("action %s (%s) sends no message", w.Action.ID, w.Action.Type)
			case *raw:
				_, err = cmd.OutOrStdout().Write(message.Raw)
				return err
			}
			v, err := view.NewApproval(ctx, h, w, message)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printer.JSON(cmd.OutOrStdout(), v)
			}
			return v.Print(cmd.OutOrStdout())
		})
	}
	return cmd
}
