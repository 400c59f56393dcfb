package app

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/pipeline"
)

// MissedBy says how many messages of an account are not taken in, and why; nil if none.
func (h *App) MissedBy(ctx context.Context, accountID string) (fault, err error) {
	jobs, err := h.Backlog.Missed(ctx, accountID)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	last := &jobs[0] // the newest
	again := "by 'postroomd run' or the next run"
	if pipeline.EndedByCrashes(last) {
		again = fmt.Sprintf("by 'postroomd jobs retry %s'", last.ID)
	}
	return fmt.Errorf("%s again %s; the last error, of job %s (%s): %s",
		printer.Count(len(jobs), "message is not taken in, and is tried", "messages are not taken in, and are tried"),
		again, last.ID, last.Type, last.LastError), nil
}
