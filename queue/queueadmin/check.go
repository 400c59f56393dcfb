package queueadmin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/queue"
)

// An Incompatibility is what is stored of unfinished jobs, or of a schedule, and the running program does not know.
type Incompatibility struct {
	Type     string
	JobID    string // the first such job; empty for a schedule
	Jobs     int    // how many there are, or were among those looked at; 0 for a schedule
	Schedule string // its name; empty for jobs
	Text     string
}

// String is the misfit in words.
func (m Incompatibility) String() string {
	if m.Schedule != "" {
		return fmt.Sprintf("%s (schedule %s)", m.Text, m.Schedule)
	}
	return fmt.Sprintf("%s (%d jobs, as %s)", m.Text, m.Jobs, m.JobID)
}

// maxChecked bounds how many payloads of each type are looked at.
const maxChecked = 1000

// CheckProgram compares the unfinished jobs in the database with the handlers that are registered: types without a handler,
// payloads that do not fit their type, and steps that the handlers do not name (see [queue.WithSteps]); and so the schedules, with
// their types and payloads. It is for a new version of a program, before it runs. Of each type it looks at the first 1000
// jobs that are ready, scheduled, waiting for a limit and running. It only reads.
func CheckProgram(ctx context.Context, d *queue.Dispatcher) ([]Incompatibility, error) {
	c := &checker{q: d.Queue(), handlers: d.Handlers()}
	for _, standing := range standings {
		if err := c.check(ctx, standing); err != nil {
			return nil, wrap("check", "", err)
		}
	}
	if err := c.schedules(ctx); err != nil {
		return nil, wrap("check", "", err)
	}
	return c.found, nil
}

// standings are where an unfinished job may stand, each a partial index.
var standings = []string{
	"state = 'queued' AND hold = 0",
	"state = 'queued' AND hold = 1",
	"state = 'queued' AND hold = 2",
	"state = 'running'",
}

const noHandler = "no handler for type "

type checker struct {
	q        *queue.Queue
	handlers map[string]queue.HandlerInfo
	found    []Incompatibility
}

type typeCount struct {
	Type  string `db:"type"`
	Jobs  int    `db:"jobs"`
	First string `db:"first"`
}

func (c *checker) check(ctx context.Context, standing string) error {
	var types []typeCount
	err := driverOf(c.q).Reader().SelectContext(ctx, &types, `
SELECT type, COUNT(*) AS jobs, MIN(id) AS first
FROM jobs
WHERE `+standing+`
GROUP BY type
ORDER BY type`)
	if err != nil {
		return err
	}
	for _, t := range types {
		h, known := c.handlers[t.Type]
		if !known {
			c.add(Incompatibility{Type: t.Type, JobID: t.First, Jobs: t.Jobs, Text: noHandler + t.Type})
			continue
		}
		if err := c.jobs(ctx, h, t.Type, standing); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) jobs(ctx context.Context, h queue.HandlerInfo, jobType, standing string) error {
	var ids []string
	err := driverOf(c.q).Reader().SelectContext(ctx, &ids, `
SELECT id
FROM jobs
WHERE type = $1
  AND `+standing+`
LIMIT $2`, jobType, maxChecked)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.job(ctx, h, id); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) job(ctx context.Context, h queue.HandlerInfo, id string) error {
	job, err := c.q.Job(ctx, id)
	if err != nil {
		return err
	}
	if err := h.Accepts(job.Payload); err != nil {
		c.add(Incompatibility{Type: job.Type, JobID: id, Jobs: 1, Text: job.Type + ": " + err.Error()})
	}
	if h.Steps == nil || job.Attempt == 0 {
		return nil
	}
	steps, err := c.q.Steps(ctx, id)
	if err != nil {
		return err
	}
	for _, s := range steps {
		if !slices.Contains(h.Steps, s.Name) {
			c.add(Incompatibility{Type: job.Type, JobID: id, Jobs: 1, Text: fmt.Sprintf("%s: the handler does not name the stored step %q", job.Type, s.Name)})
		}
	}
	return nil
}

func (c *checker) schedules(ctx context.Context) error {
	schedules, err := c.q.Schedules(ctx)
	if err != nil {
		return err
	}
	for i := range schedules {
		s := &schedules[i]
		m := Incompatibility{Type: s.Job.Type, Schedule: s.Name}
		payload, _ := s.Job.Payload.(json.RawMessage)
		if h, known := c.handlers[s.Job.Type]; !known {
			m.Text = noHandler + s.Job.Type
		} else if err := h.Accepts(payload); err != nil {
			m.Text = s.Job.Type + ": " + err.Error()
		}
		if s.Fault != "" {
			m.Text = "it cannot fire: " + s.Fault
		}
		if m.Text != "" {
			c.add(m)
		}
	}
	return nil
}

// add counts equal misfits as one.
func (c *checker) add(m Incompatibility) {
	for i := range c.found {
		if f := &c.found[i]; f.Type == m.Type && f.Schedule == m.Schedule && f.Text == m.Text {
			f.Jobs += m.Jobs
			return
		}
	}
	c.found = append(c.found, m)
}
