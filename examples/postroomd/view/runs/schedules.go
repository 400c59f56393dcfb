package runs

import (
	"context"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm/agent"
)

// A Schedule has an agent tell the owner of a mailbox something again and again.
type Schedule struct {
	ID      string    `json:"id"`
	Mailbox string    `json:"mailbox"`
	Profile string    `json:"profile"`
	Prompt  string    `json:"prompt"`
	Cron    string    `json:"cron"`
	Zone    string    `json:"zone"`
	Since   string    `json:"since"` // how far back what came and was done is told of
	Next    time.Time `json:"next,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Fault   string    `json:"fault,omitempty"` // why it cannot tell
}

// Schedules are all schedules.
type Schedules struct {
	List []Schedule `json:"schedules"`
}

// NewSchedules reads the schedules of an account; an empty one is all of them.
func NewSchedules(ctx context.Context, h *app.App, accountID string) (v Schedules, err error) {
	list, err := h.Agents.Scheduled(ctx, accountID)
	if err != nil {
		return v, err
	}
	mailboxes, err := view.Mailboxes(ctx, h)
	v.List = printer.List(list, func(s agent.Schedule) Schedule { return newSchedule(s, mailboxes) })
	return v, err
}

// NewSchedule views one schedule.
func NewSchedule(ctx context.Context, h *app.App, s agent.Schedule) (Schedule, error) {
	mailboxes, err := view.Mailboxes(ctx, h)
	return newSchedule(s, mailboxes), err
}

func newSchedule(s agent.Schedule, mailboxes map[string]string) Schedule {
	v := Schedule{ID: s.ID, Mailbox: mailboxes[s.AccountID], Profile: s.Profile, Prompt: s.Prompt, Cron: s.Cron,
		Zone: s.Zone, Next: s.NextAt, Last: s.LastAt, Fault: s.Fault}
	since, err := agents.Since(agent.Invocation{ID: s.ID, Config: s.Config})
	v.Since = since.String()
	if err != nil {
		v.Since, v.Fault = "", err.Error()
	}
	return v
}
