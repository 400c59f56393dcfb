package approvals

import (
	"context"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/outbox"
)

func approvalsEdit() *cobra.Command {
	cmd := &cobra.Command{
		Use: "edit ID", Short: "Change the text or the subject of a message before it is allowed to be sent",
		Long: "Change the text or the subject of a message before it is allowed to be sent, and print it as 'approvals show' does. Of a forward\n" +
			"the text is what stands above the original, which nobody edits. Nothing is sent: what is printed waits for 'approvals approve'.\n" +
			"Whoever was asked before is asked again. A reply with another subject than its original begins a thread of its own.",
		Args: cobra.ExactArgs(1),
	}
	place := command.NewEnvironmentFlags(cmd)
	subject := cmd.Flags().String("subject", "", "the new subject; without it the old one stays")
	file := cmd.Flags().String("body-file", "", "a file with the new text, or - for standard input; without it the old one stays")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("subject") && !cmd.Flags().Changed("body-file") {
			return usage.Errorf("give the new text with --body-file, the new subject with --subject, or both")
		}
		var edit outbox.Edit
		if cmd.Flags().Changed("subject") {
			edit.Subject = subject
		}
		if cmd.Flags().Changed("body-file") {
			text, err := readBody(cmd.InOrStdin(), *file)
			if err != nil {
				return usage.Wrap(err)
			}
			edit.Text = &text
		}
		return command.WithWriter(cmd, place, func(ctx context.Context, h *app.App) error {
			w, err := h.WaitingRequest(ctx, args[0])
			if err != nil {
				return err
			}
			if w, err = composed(ctx, h, w.Action.ID); err != nil {
				return err
			}
			if _, err := h.EditShown(ctx, w.Approval, app.CurrentUser(), edit); err != nil {
				return err
			}
			return showRequest(ctx, h, cmd.OutOrStdout(), w.Action.ID)
		})
	}
	return cmd
}

// readBody reads a text, and no more of it than shows that it is too long.
func readBody(stdin io.Reader, path string) (string, error) {
	in := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, outbox.MaxEditedText+1))
	return string(text), err
}

// showRequest prints a request with what it sends.
func showRequest(ctx context.Context, h *app.App, out io.Writer, actionID string) error {
	w, err := h.WaitingRequest(ctx, actionID)
	if err != nil {
		return err
	}
	message, err := h.Preview(ctx, w.Action)
	if err != nil {
		return err
	}
	v, err := view.NewApproval(ctx, h, w, message)
	if err != nil {
		return err
	}
	return v.Print(out)
}
