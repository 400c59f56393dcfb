package app

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
)

// CheckRetry refuses the job of a failed action: for the ledger that is final.
func (h *App) CheckRetry(ctx context.Context, id string) error {
	job, err := h.Queue.Job(ctx, id)
	if err != nil {
		return NoJobError(err, id, "postroomd jobs list --state failed")
	}
	if job.Type != string(gmail.JobAction) && job.Type != string(gmail.JobOutboundSend) {
		return nil
	}
	var payload gmail.ActionPayload // that of a sending has these fields too
	if err := json.Unmarshal(job.Payload, &payload); err != nil {
		return usage.Errorf("job %s cannot be retried: its payload cannot be read: %w", id, err)
	}
	action, err := h.Ledger.Action(ctx, payload.ActionID)
	if err == nil && action.State.Final() {
		return usage.Errorf("job %s cannot be retried: its action %s is %s for good (%s)", id, action.ID, action.State, action.Error)
	}
	return err
}

// NoJobError converts the error for an unknown job id into a usage error.
func NoJobError(err error, id, listing string) error {
	if errors.Is(err, queue.ErrJobNotFound) {
		return usage.Errorf("there is no job %s; '%s' lists them", id, listing)
	}
	return err
}
