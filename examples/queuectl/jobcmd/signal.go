package jobcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
)

func (h *Host) signal() *cobra.Command {
	cmd := &cobra.Command{Use: "signal ID NAME [JSON]", Args: cobra.RangeArgs(2, 3),
		Short: "Send a signal to a job, such as the approval that it waits for",
		Long: "Send a signal to a job that waits for it, or will. The payload is JSON, such as true or '{\"by\": \"ada\"}'; without one it\n" +
			"is null. 'explain' says for which signal a job waits."}
	open := h.Place(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		payload := json.RawMessage("null")
		if len(args) == 3 {
			payload = json.RawMessage(args[2])
		}
		if !json.Valid(payload) {
			return usage.Errorf("the payload %s is not JSON; write a text as '\"yes\"'", args[2])
		}
		return open(cmd, true, func(ctx context.Context, s *Session) error {
			id, err := h.resolve(ctx, s, args[0], "")
			if err != nil {
				return err
			}
			if err := s.Queue.Signal(ctx, id, args[1], payload); errors.Is(err, queue.ErrFinished) {
				return usage.Errorf("job %s has ended, and takes no signal", id)
			} else if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "job %s: sent the signal %s\n", id, args[1])
			return err
		})
	}
	return cmd
}
