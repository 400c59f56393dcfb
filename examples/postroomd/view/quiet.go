package view

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// A QuietStatus describes the quiet hours of now.
type QuietStatus struct {
	Until   time.Time `json:"until"`
	Waiting int       `json:"waiting"` // actions
}

// newQuietStatus returns nil if these are no quiet hours.
func newQuietStatus(ctx context.Context, h *app.App) (*QuietStatus, error) {
	until, err := h.QuietUntil(time.Now())
	if err != nil || until.IsZero() {
		return nil, err
	}
	jobs, err := h.Queue.Counts(ctx, queue.Filter{Types: []string{string(gmail.JobAction), string(outbox.JobSend)}})
	return &QuietStatus{Until: until, Waiting: jobs[queue.StateQueued]}, err
}

// String is empty without quiet hours.
func (q *QuietStatus) String() string {
	if q == nil {
		return ""
	}
	return "until " + printer.Minute(q.Until) + "; " + printer.Count(q.Waiting, "action waits", "actions wait")
}
