package approvals

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
)

// askAgain rejects what an action asks, as it is asked now, and has its model asked once more.
func askAgain(ctx context.Context, h *app.App, cmd *cobra.Command, prefix, why string) error {
	id, err := h.ResolveAction(ctx, prefix)
	if err != nil {
		return err
	}
	w, err := h.WaitingRequest(ctx, id)
	if err != nil {
		return err
	}
	if err := h.RejectAndAskAgain(ctx, w.Approval, app.CurrentUser(), why); err != nil {
		return err
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(),
		"Rejected. The model is asked once more; 'postroomd decisions list' has what it says.")
	return err
}
