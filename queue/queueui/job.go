package queueui

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// The maximum of a job's history that is shown; the newest part.
const (
	maxAttemptsShown = 50
	maxLogsShown     = 500
)

// A jobPage is one job and its history.
type jobPage struct {
	Job       *queue.Job
	Now       time.Time
	Reasons   []queueadmin.Reason // why it does not run, if it is unfinished
	Timeline  *timeline
	Attempts  []queue.AttemptRecord // newest first
	Earlier   int                   // attempts not shown
	Steps     []step
	Signals   []signal
	Logs      []logLine
	EarlierLn int // log lines not shown
	Payload   string
	Result    string
	Hidden    bool
	Moving    bool // to or from another database
	CanCancel bool
	CanRetry  bool

	FlowID, NodeName string // empty for a job of no flow
}

// A step is a StepRecord in the form of the page.
type step struct {
	queue.StepRecord
	Took           time.Duration
	Result, Cursor string
}

// A signal is a SignalRecord in the form of the page.
type signal struct {
	queue.SignalRecord
	Payload string
	Word    string // what has become of it
}

// A logLine is a queue.LogLine in the form of the page.
type logLine struct {
	queue.LogLine
	Attrs string
	First bool // of its attempt
}

func (h *Handler) job(ctx context.Context, u *url.URL) (*view, error) {
	id := strings.TrimPrefix(u.Path, "/jobs/")
	job, err := h.q.Job(ctx, id)
	if err != nil {
		return nil, err
	}
	p := &jobPage{
		Job: job, Now: time.Now(), Hidden: h.cfg.HidePayloads,
		CanCancel: !job.State.Finished(), CanRetry: job.State == queue.StateFailed || job.State == queue.StateCanceled,
	}
	for _, read := range []func(context.Context, *jobPage) error{h.reasons, h.attempts, h.steps, h.signals, h.logs} {
		if err := read(ctx, p); err != nil {
			return nil, err
		}
	}
	p.FlowID, p.NodeName, _ = strings.Cut(job.Node, "/")
	moving, err := h.moving(ctx)
	if err != nil {
		return nil, err
	}
	p.Moving = slices.Contains(moving, job.ID)
	p.Payload, p.Result = h.shown(job.Payload), h.shown(job.Result)
	return &view{name: "job", title: job.Type + " " + job.ID, live: self(u), data: p}, nil
}

// shown returns the part of JSON that the host allows to be seen.
func (h *Handler) shown(raw json.RawMessage) string {
	if h.cfg.HidePayloads || raw == nil {
		return ""
	}
	return pretty(raw)
}

func (h *Handler) reasons(ctx context.Context, p *jobPage) error {
	if p.Job.State != queue.StateQueued {
		return nil
	}
	e, err := queueadmin.Explain(ctx, h.q, p.Job.ID)
	if errors.Is(err, queue.ErrJobNotFound) {
		return nil // it was just deleted
	}
	if err == nil {
		p.Reasons = e.Reasons
	}
	return err
}

func (h *Handler) attempts(ctx context.Context, p *jobPage) error {
	attempts, err := h.q.Attempts(ctx, p.Job.ID)
	if err != nil {
		return err
	}
	p.Earlier = max(0, len(attempts)-maxAttemptsShown)
	attempts = attempts[p.Earlier:]
	p.Timeline = draw(p.Job, attempts, p.Now)
	p.Attempts = slices.Clone(attempts)
	slices.Reverse(p.Attempts)
	return nil
}

func (h *Handler) steps(ctx context.Context, p *jobPage) error {
	steps, err := h.q.Steps(ctx, p.Job.ID)
	for i := range steps {
		s := step{StepRecord: steps[i], Result: h.shown(steps[i].Result), Cursor: h.shown(steps[i].Cursor)}
		if !s.FinishedAt.IsZero() {
			s.Took = s.FinishedAt.Sub(s.StartedAt)
		}
		p.Steps = append(p.Steps, s)
	}
	return err
}

func (h *Handler) signals(ctx context.Context, p *jobPage) error {
	signals, err := h.q.Signals(ctx, p.Job.ID)
	for i := range signals {
		s := signal{SignalRecord: signals[i], Payload: h.shown(signals[i].Payload), Word: "received"}
		switch {
		case s.AnsweredAt.IsZero():
			s.Word = "awaited"
		case signals[i].Payload == nil:
			s.Word = "did not come in time"
		case s.AwaitedAt.IsZero():
			s.Word = "kept until it is awaited"
		}
		p.Signals = append(p.Signals, s)
	}
	return err
}

func (h *Handler) logs(ctx context.Context, p *jobPage) error {
	lines, err := h.q.Logs(ctx, p.Job.ID)
	p.EarlierLn = max(0, len(lines)-maxLogsShown)
	attempt := 0
	for _, line := range lines[p.EarlierLn:] {
		shown := logLine{LogLine: line, First: line.Attempt != attempt}
		if !h.cfg.HidePayloads {
			shown.Attrs = webui.Printable(string(line.Attrs), webui.MaxLine*4)
		}
		p.Logs = append(p.Logs, shown)
		attempt = line.Attempt
	}
	return err
}
