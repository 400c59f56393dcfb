// Package runs has what is shown of the runs of agents, and of their profiles.
package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm/agent"
)

// A Run is one run of an agent.
type Run struct {
	ID         string              `json:"id"`
	Mailbox    string              `json:"mailbox"`
	MessageID  string              `json:"message_id"`
	Subject    string              `json:"subject,omitempty"` // of the message, while it is stored
	Profile    string              `json:"profile"`
	Version    string              `json:"version"` // of the profile
	Model      string              `json:"model"`
	State      agent.State         `json:"state"`
	Outcome    agent.Outcome       `json:"outcome,omitempty"`
	Reason     string              `json:"reason,omitempty"`
	Parameters postroom.Parameters `json:"parameters,omitempty"`
	ActionID   string              `json:"action_id,omitempty"`
	ReplayOf   string              `json:"replay_of,omitempty"`
	ModelCalls int                 `json:"model_calls"`
	ToolCalls  int                 `json:"tool_calls"`
	Tokens     int                 `json:"tokens"`
	Cost       string              `json:"cost"`
	Seconds    float64             `json:"seconds"` // of all calls together
	StartedAt  time.Time           `json:"started_at"`
	EndedAt    time.Time           `json:"ended_at,omitzero"`
	Steps      []Step              `json:"steps,omitempty"` // only of one run
}

// A Step is one call of a run.
type Step struct {
	N       int            `json:"n"`
	Kind    agent.StepKind `json:"kind"`
	Name    string         `json:"name"`
	Input   string         `json:"input"`
	Output  string         `json:"output"`
	Fault   string         `json:"fault,omitempty"`
	Tokens  int            `json:"tokens"`
	Cost    string         `json:"cost"`
	Seconds float64        `json:"seconds"`
}

// Running reports whether it has not ended.
func (r *Run) Running() bool { return r.State == agent.StateRunning }

// Words are the state, and the outcome if there is one.
func (r *Run) Words() string {
	if r.Outcome == "" {
		return string(r.State)
	}
	return string(r.State) + ": " + view.KindWords(postroom.ActionType(r.Outcome))
}

// Bad reports whether it ended otherwise than an agent ends it.
func (r *Run) Bad() bool { return r.State != agent.StateRunning && r.State != agent.StateDone }

// A Detail is a parameter of the outcome.
type Detail struct{ Name, Text string }

// Details are the parameters of the outcome, for people.
func (r *Run) Details() []Detail {
	list := []Detail{}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		text := fmt.Sprint(r.Parameters[name])
		if values, ok := r.Parameters[name].([]any); ok {
			text = strings.Join(printer.List(values, func(v any) string { return fmt.Sprint(v) }), ", ")
		}
		list = append(list, Detail{name, text})
	}
	return list
}

// A Page is a page of runs, the newest first.
type Page struct {
	List []Run  `json:"runs"`
	Next string `json:"next,omitempty"` // the id of the run after which the next page begins; empty on the last one
}

// NewPage reads a page of runs; the limit of the filter is that of the page.
func NewPage(ctx context.Context, h *app.App, f agent.Filter) (p Page, err error) {
	size := f.Limit
	f.Limit++
	list, err := h.Agents.Runs(ctx, f)
	if err != nil {
		return p, err
	}
	if len(list) > size {
		list = list[:size]
		p.Next = list[size-1].ID
	}
	mailboxes, err := view.Mailboxes(ctx, h)
	if err != nil {
		return p, err
	}
	p.List = make([]Run, len(list))
	for i := range list {
		if p.List[i], err = newRun(ctx, h, &list[i], mailboxes); err != nil {
			return p, err
		}
	}
	return p, nil
}

// New views one run with its steps.
func New(ctx context.Context, h *app.App, r *agent.Run) (Run, error) {
	mailboxes, err := view.Mailboxes(ctx, h)
	if err != nil {
		return Run{}, err
	}
	return newRun(ctx, h, r, mailboxes)
}

func newRun(ctx context.Context, h *app.App, r *agent.Run, mailboxes map[string]string) (Run, error) {
	v := Run{ID: r.ID, Mailbox: mailboxes[r.AccountID], MessageID: r.MessageID, Profile: r.Profile, Version: r.Version,
		Model: r.Model, State: r.State, Outcome: r.Outcome, Reason: r.Reason, Parameters: r.Parameters, ActionID: r.ActionID,
		ReplayOf: r.ReplayOf, ModelCalls: r.Usage.ModelCalls, ToolCalls: r.Usage.ToolCalls, Tokens: r.Usage.Tokens,
		Cost: r.Usage.Cost.String(), Seconds: r.Usage.Duration.Seconds(), StartedAt: r.StartedAt, EndedAt: r.EndedAt}
	for _, s := range r.Steps {
		v.Steps = append(v.Steps, Step{N: s.N, Kind: s.Kind, Name: s.Name, Input: s.Input, Output: s.Output, Fault: s.Fault,
			Tokens: s.Tokens, Cost: s.Cost.String(), Seconds: s.Duration.Seconds()})
	}
	m, err := h.Mail.Message(ctx, r.AccountID, r.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return v, nil
	}
	if err == nil {
		v.Subject = m.Subject
	}
	return v, err
}

// Print prints a run for people.
func (r *Run) Print(w io.Writer) error {
	f := printer.NewFields(w)
	f.Add("id", r.ID)
	f.Add("agent", r.Profile)
	f.Add("state", r.Words())
	f.Add("why", r.Reason)
	f.Add("mailbox", r.Mailbox)
	f.Add("message", r.MessageID)
	f.Add("subject", r.Subject)
	f.Add("action", r.ActionID)
	f.Add("replay of", r.ReplayOf)
	f.Add("model", r.Model)
	f.Add("used", fmt.Sprintf("%d calls of the model, %d of tools, %d tokens, %s, %.1f s", r.ModelCalls, r.ToolCalls,
		r.Tokens, r.Cost, r.Seconds))
	f.Add("started", printer.Clock(r.StartedAt))
	f.Add("ended", printer.Clock(r.EndedAt))
	for _, d := range r.Details() {
		f.Add(d.Name, d.Text)
	}
	if err := f.Flush(); err != nil {
		return err
	}
	for _, s := range r.Steps {
		_, err := fmt.Fprintf(w, "\n%d. %s %s, %d tokens, %s, %.1f s\n%s\n", s.N, s.Kind, printer.PrintableLines(s.Name),
			s.Tokens, s.Cost, s.Seconds, indented("> ", s.Input)+indented("< ", s.Output)+indented("! ", s.Fault))
		if err != nil {
			return err
		}
	}
	return nil
}

func indented(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(printer.PrintableLines(text)) {
		b.WriteString("  " + mark + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}
