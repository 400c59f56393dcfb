package queueadmin

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// An Incompatibility is a fact about unfinished jobs, or about a schedule, that the running program cannot handle.
type Incompatibility struct {
	Type     string
	JobID    string // the first such job; empty for a schedule
	Jobs     int    // number of such jobs, among the checked ones; 0 for a schedule
	Schedule string // its name; empty for jobs
	Text     string
}

// String formats the text and the jobs, or the schedule.
func (m Incompatibility) String() string {
	if m.Schedule != "" {
		return fmt.Sprintf("%s (schedule %s)", m.Text, m.Schedule)
	}
	return fmt.Sprintf("%s (%d jobs, as %s)", m.Text, m.Jobs, m.JobID)
}

// maxChecked bounds the payloads of each type that are checked.
const maxChecked = 1000

// CheckProgram compares the unfinished jobs in the database with the registered handlers. It finds types without a
// handler, payloads that do not fit their type, and steps that the handlers do not name (see [queue.WithSteps]). It
// also checks the types and payloads of schedules. Call it in a new version of a program before it runs. For each type
// it checks the first 1000 jobs that are ready, scheduled, limited, moving and running. It only reads.
func CheckProgram(ctx context.Context, d *queue.Dispatcher) ([]Incompatibility, error) {
	if d == nil {
		return nil, wrap("check", "", errNoDispatcher)
	}
	auditor, err := auditorOf(d.Queue())
	if err != nil {
		return nil, wrap("check", "", err)
	}
	c := &checker{q: d.Queue(), auditor: auditor, handlers: d.Handlers()}
	for _, at := range driver.Standings() {
		if at.State.Finished() {
			continue
		}
		if err := c.check(ctx, at); err != nil {
			return nil, failed(ctx, d.Queue(), "check", err)
		}
	}
	if err := c.schedules(ctx); err != nil {
		return nil, failed(ctx, d.Queue(), "check", err)
	}
	return c.found, nil
}

const noHandler = "no handler for type "

type checker struct {
	q        *queue.Queue
	auditor  driver.Auditor
	handlers map[string]queue.HandlerInfo
	found    []Incompatibility
}

func (c *checker) check(ctx context.Context, at driver.Standing) error {
	types, err := c.auditor.TypesAt(ctx, at)
	if err != nil {
		return err
	}
	for _, t := range types {
		h, known := c.handlers[t.Type]
		if !known {
			c.add(Incompatibility{Type: t.Type, JobID: t.First, Jobs: t.Jobs, Text: noHandler + t.Type})
			continue
		}
		if err := c.jobs(ctx, h, t.Type, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) jobs(ctx context.Context, h queue.HandlerInfo, jobType string, at driver.Standing) error {
	ids, err := c.auditor.JobsAt(ctx, at, jobType, maxChecked)
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
	if err := h.Accepts(job.Payload, job.PayloadVersion); err != nil {
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
			c.add(Incompatibility{Type: job.Type, JobID: id, Jobs: 1,
				Text: fmt.Sprintf("%s: the handler does not name the stored step %q", job.Type, s.Name)})
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
		} else if err := h.Accepts(payload, s.Job.PayloadVersion); err != nil {
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

// add merges equal ones.
func (c *checker) add(m Incompatibility) {
	for i := range c.found {
		if f := &c.found[i]; f.Type == m.Type && f.Schedule == m.Schedule && f.Text == m.Text {
			f.Jobs += m.Jobs
			return
		}
	}
	c.found = append(c.found, m)
}
