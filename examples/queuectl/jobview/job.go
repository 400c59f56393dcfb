// Package jobview has the jobs of a queue as commands and APIs show them.
package jobview

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A Job is a job of the queue.
type Job struct {
	ID            string          `json:"id"`
	Type          string          `json:"type"`
	State         queue.State     `json:"state"`
	Priority      int             `json:"priority"`
	Attempt       int             `json:"attempt"`
	Failures      int             `json:"failures"`
	Interruptions int             `json:"interruptions"`
	Crashes       int             `json:"crashes"`
	MaxAttempts   int             `json:"max_attempts"`
	Key           string          `json:"key,omitempty"`
	LimitKey      string          `json:"limit_key,omitempty"`
	UserID        string          `json:"user_id,omitempty"`
	Tags          []string        `json:"tags,omitempty"`
	Node          string          `json:"node,omitempty"` // of a flow: the flow's id, a slash and the node's name
	Sequence      string          `json:"sequence,omitempty"`
	Worker        string          `json:"worker,omitempty"`
	Payload       json.RawMessage `json:"payload"`
	Result        json.RawMessage `json:"result,omitempty"`
	Error         string          `json:"error,omitempty"`
	NotBefore     time.Time       `json:"not_before"`
	ExpiresAt     time.Time       `json:"expires_at,omitzero"`
	CreatedAt     time.Time       `json:"created_at"`
	StartedAt     time.Time       `json:"started_at,omitzero"`
	FinishedAt    time.Time       `json:"finished_at,omitzero"`
	Attempts      []Attempt       `json:"attempts,omitempty"` // those that did not simply succeed
	Steps         []Step          `json:"steps,omitempty"`
}

// NewJob makes the view of a job.
func NewJob(j queue.Job) Job {
	return Job{
		ID: j.ID, Type: j.Type, State: j.State, Priority: j.Priority, Attempt: j.Attempt, Failures: j.Failures,
		Interruptions: j.Interruptions, Crashes: j.Crashes, MaxAttempts: j.MaxAttempts, Key: j.Key.Name, LimitKey: j.LimitKey,
		UserID: j.UserID, Tags: j.Tags, Node: j.Node, Sequence: j.Sequence,
		Worker: j.WorkerID, Payload: Raw(j.Payload), Result: Raw(j.Result),
		Error: j.LastError, NotBefore: j.NotBefore, ExpiresAt: j.ExpiresAt, CreatedAt: j.CreatedAt, StartedAt: j.StartedAt,
		FinishedAt: j.FinishedAt,
	}
}

// Raw returns a stored value as JSON. One that is not JSON, which other programs may write, becomes a text, so that it
// can be seen and what is beside it, too.
func Raw(stored json.RawMessage) json.RawMessage {
	if len(stored) == 0 || json.Valid(stored) {
		return stored
	}
	text, _ := json.Marshal(string(stored)) //nolint:errchkjson // a text always has a form
	return text
}

// An Attempt is one attempt of a job.
type Attempt struct {
	Attempt    int       `json:"attempt"`
	Worker     string    `json:"worker"`
	Kind       string    `json:"kind"`
	Error      string    `json:"error"`
	Stack      string    `json:"stack,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

// NewAttempt makes the view of an attempt.
func NewAttempt(a queue.AttemptRecord) Attempt {
	return Attempt{a.Attempt, a.WorkerID, a.Kind, a.Error, a.Stack, a.StartedAt, a.FinishedAt}
}

// A Step is a step whose result a job has stored.
type Step struct {
	Name       string          `json:"name"`
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	Result     json.RawMessage `json:"result,omitempty"`
	Cursor     json.RawMessage `json:"cursor,omitempty"`
}

// NewStep makes the view of a step.
func NewStep(s queue.StepRecord) Step {
	return Step{s.Name, s.StartedAt, s.FinishedAt, Raw(s.Result), Raw(s.Cursor)}
}

// A Reason says why a job does not run.
type Reason struct {
	Cause queueadmin.Cause `json:"cause"`
	Text  string           `json:"text"`
	Until time.Time        `json:"until,omitzero"`
}

// NewReason makes the view of a reason.
func NewReason(r queueadmin.Reason) Reason { return Reason(r) }

// A Finding is what an examination of the queue has found.
type Finding struct {
	Severity queueadmin.Severity `json:"severity"`
	Text     string              `json:"text"`
	Hint     string              `json:"hint,omitempty"`
}

// NewFinding makes the view of a finding.
func NewFinding(f queueadmin.Finding) Finding { return Finding{f.Severity, f.Text, f.Hint} }

// PrintJob prints a job with its attempts and steps.
func PrintJob(w io.Writer, j *queue.Job, attempts []queue.AttemptRecord, steps []queue.StepRecord) error {
	f := printer.NewFields(w)
	f.Add("id", j.ID)
	f.Add("type", j.Type)
	f.Add("state", j.State)
	f.Add("priority", j.Priority)
	f.Add("attempts", fmt.Sprintf("%d (%d failed of %d, %d interrupted, %d crashed)", j.Attempt, j.Failures,
		j.MaxAttempts, j.Interruptions, j.Crashes))
	f.Add("due", printer.Clock(j.NotBefore))
	f.Add("expires", printer.Clock(j.ExpiresAt))
	f.Add("created", printer.Clock(j.CreatedAt))
	f.Add("started", printer.Clock(j.StartedAt))
	f.Add("finished", printer.Clock(j.FinishedAt))
	f.Add("worker", j.WorkerID)
	f.Add("key", j.Key.Name)
	f.Add("limit key", j.LimitKey)
	f.Add("user", j.UserID)
	f.Add("tags", strings.Join(j.Tags, ", "))
	f.Add("node", j.Node)
	f.Add("sequence", j.Sequence)
	f.Add("payload", string(j.Payload))
	f.Add("result", string(j.Result))
	f.Add("error", j.LastError)
	for _, s := range steps {
		state := "started, not finished"
		switch {
		case !s.FinishedAt.IsZero():
			state = string(s.Result)
		case s.Cursor != nil:
			state += ", has come to " + string(s.Cursor)
		}
		f.Add("step "+s.Name, state)
	}
	for _, a := range attempts {
		how := a.Kind
		if !a.FinishedAt.IsZero() {
			how += fmt.Sprintf(" after %v", a.FinishedAt.Sub(a.StartedAt).Round(time.Millisecond))
		}
		if a.Error != "" {
			how += ": " + a.Error
		}
		f.Add(fmt.Sprintf("attempt %d", a.Attempt), how)
		f.Add("stack", a.Stack)
	}
	return f.Flush()
}

// An ErrorGroup is jobs with like errors.
type ErrorGroup struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Text      string    `json:"text"`
	Jobs      int       `json:"jobs"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	JobID     string    `json:"job_id"`
}

// NewErrorGroup makes the view of a group.
func NewErrorGroup(g queueadmin.ErrorGroup) ErrorGroup { return ErrorGroup(g) }
