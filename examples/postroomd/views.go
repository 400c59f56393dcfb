package main

import (
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/safety"
)

// The --json output of the listings: an interface for scripts, independent of the packages' own types.

func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON instead of a table")
}

type actionView struct {
	ID         string               `json:"id"`
	Action     postroom.ActionType  `json:"action"`
	Label      string               `json:"label,omitempty"`
	State      postroom.ActionState `json:"state"`
	Error      string               `json:"error,omitempty"`
	Source     postroom.Source      `json:"source"`
	Rule       string               `json:"rule,omitempty"`
	Rationale  string               `json:"rationale"`
	Confidence float64              `json:"confidence"`
	Sender     string               `json:"sender"`
	Subject    string               `json:"subject"`
	CreatedAt  time.Time            `json:"created_at"`
	ExecutedAt time.Time            `json:"executed_at,omitzero"`
	Undoable   bool                 `json:"undoable"`
}

func viewAction(e safety.Entry, names labelNames) actionView {
	a, d := e.Action, e.Decision
	v := actionView{
		ID: a.ID, Action: a.Type, State: a.State, Error: a.Error, Source: d.Decision.Source, Rule: d.Decision.RuleName,
		Rationale: d.Decision.Rationale, Confidence: d.Decision.Confidence, Sender: d.Sender, Subject: d.Subject,
		CreatedAt: a.CreatedAt, ExecutedAt: a.ExecutedAt, Undoable: a.State == postroom.ActionCompleted && a.UndoHint.Undoable(),
	}
	if label, ok := a.Parameters.Text(postroom.ParamLabel); ok {
		v.Label = names.name(a.AccountID, label)
	}
	return v
}

type approvalView struct {
	actionView
	Reasons     []string  `json:"reasons"`
	RequestedAt time.Time `json:"requested_at"`
	ExpiresAt   time.Time `json:"expires_at"`
	Altered     bool      `json:"altered,omitempty"` // it is not what was asked, and can only be rejected
}

func viewApproval(w safety.Waiting, names labelNames, altered bool) approvalView {
	return approvalView{viewAction(w.Entry, names), w.Approval.Reasons, w.Approval.RequestedAt, w.Approval.ExpiresAt, altered}
}

type jobView struct {
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
	Payload       json.RawMessage `json:"payload"`
	Result        json.RawMessage `json:"result,omitempty"`
	Error         string          `json:"error,omitempty"`
	NotBefore     time.Time       `json:"not_before"`
	CreatedAt     time.Time       `json:"created_at"`
	StartedAt     time.Time       `json:"started_at,omitzero"`
	FinishedAt    time.Time       `json:"finished_at,omitzero"`
	Attempts      []attemptView   `json:"attempts,omitempty"` // those that did not simply succeed
	Steps         []stepView      `json:"steps,omitempty"`
}

func viewJob(j queue.Job) jobView {
	return jobView{
		ID: j.ID, Type: j.Type, State: j.State, Priority: j.Priority, Attempt: j.Attempt, Failures: j.Failures,
		Interruptions: j.Interruptions, Crashes: j.Crashes, MaxAttempts: j.MaxAttempts, Key: j.Key.Name, Payload: j.Payload,
		Result: j.Result, Error: j.LastError, NotBefore: j.NotBefore, CreatedAt: j.CreatedAt, StartedAt: j.StartedAt,
		FinishedAt: j.FinishedAt,
	}
}

type attemptView struct {
	Attempt    int       `json:"attempt"`
	Worker     string    `json:"worker"`
	Kind       string    `json:"kind"`
	Error      string    `json:"error"`
	Stack      string    `json:"stack,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
}

func viewAttempt(a queue.AttemptRecord) attemptView {
	return attemptView{a.Attempt, a.WorkerID, a.Kind, a.Error, a.Stack, a.StartedAt, a.FinishedAt}
}

type stepView struct {
	Name       string          `json:"name"`
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt time.Time       `json:"finished_at,omitzero"`
	Result     json.RawMessage `json:"result,omitempty"`
	Cursor     json.RawMessage `json:"cursor,omitempty"`
}

func viewStep(s queue.StepRecord) stepView {
	return stepView{s.Name, s.StartedAt, s.FinishedAt, s.Result, s.Cursor}
}

type reasonView struct {
	Cause queueadmin.Cause `json:"cause"`
	Text  string           `json:"text"`
	Until time.Time        `json:"until,omitzero"`
}

func viewReason(r queueadmin.Reason) reasonView { return reasonView(r) }

type findingView struct {
	Severity queueadmin.Severity `json:"severity"`
	Text     string              `json:"text"`
	Hint     string              `json:"hint,omitempty"`
}

func viewFinding(f queueadmin.Finding) findingView { return findingView(f) }
