package queueadmin

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// apart is the tolerated difference between clocks.
const apart = time.Minute

// checkClock compares the machine's clock with the database's, and the latter with the times in rows.
func checkClock(ctx context.Context, q *queue.Queue) (findings []Finding, err error) {
	now := driver.Now(q.DB().Driver())
	if off := time.Now().Round(0).Sub(now.Round(0)); off.Abs() > apart {
		findings = append(findings, Finding{Severity: SeverityWarning,
			Text: fmt.Sprintf("this machine's clock shows %s, and the database's %s", shown(time.Now()), shown(now)),
			Hint: "the queue goes by the database's; set this machine's, or on SQLite wait 5 minutes until a clock that was set is believed"})
	}
	future := func(what string, at time.Time) {
		if at.Sub(now) > apart {
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text: fmt.Sprintf("%s is of %s, which is %v in the future", what, shown(at),
					at.Sub(now).Round(time.Second)),
				Hint: "the clock was ahead when that was written, or is behind now: see that it is right; what was due by then waits until that time has come"})
		}
	}
	jobs, err := q.Jobs(ctx, queue.Filter{Limit: 1})
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		future("the newest job", jobs[i].CreatedAt)
	}
	workers, err := q.DB().Driver().Workers(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range workers {
		future("worker "+w.ID+": its last sign of life", w.BeatAt)
	}
	schedules, err := q.Schedules(ctx)
	for i := range schedules {
		s := &schedules[i]
		future("schedule "+s.Name+": its last change or firing", later(s.LastAt, s.UpdatedAt))
	}
	return findings, err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func shown(t time.Time) string { return t.UTC().Format(time.RFC3339) }
