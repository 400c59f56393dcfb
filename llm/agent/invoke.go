package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/queue"
)

// JobInvocation has an agent tell its owner something, such as what waits, without a message that it works on.
const JobInvocation queue.Type[Invocation] = "agent_invocation"

// An Invocation is the payload of a [JobInvocation].
type Invocation struct {
	ID        string `json:"id"`         // of the schedule
	UserID    string `json:"user_id"`    // the id of the account
	AgentName string `json:"agent_name"` // the profile
	Prompt    string `json:"prompt"`     // the owner's words
	// Config is for [Config].Material, which alone reads it.
	Config json.RawMessage `json:"config"`
}

// An InvocationResult is the result of a [JobInvocation].
type InvocationResult struct {
	Output     string `json:"output"`      // what was told; empty if a bound has ended the run
	DurationMS int64  `json:"duration_ms"` // of all calls together
	// PendingActions is how many actions wait for a person: none, since an invocation only tells.
	PendingActions int  `json:"pending_actions"`
	Refused        bool `json:"refused,omitempty"` // a limit was reached, or the profile is paused
}

// OutcomeReport is how a run of a [JobInvocation] ends. Its parameter "output" is what was told. No profile lists it.
const OutcomeReport Outcome = "report"

const paramOutput = "output"

// Output returns what a run of a [JobInvocation] has told; empty for other runs.
func (r *Run) Output() string {
	text, _ := r.Parameters.Text(paramOutput)
	return text
}

const (
	// maxOutput bounds what is told, in characters.
	maxOutput = 5000
	// maxMaterial bounds what is told of, in characters.
	maxMaterial = maxThreadText
	// invocationAttempts last about half an hour with the queue's default backoff: what is told later than that is not
	// what was asked for at that time.
	invocationAttempts = 12
)

// invoke runs the profile of a job without a message. The failure that ends the job is the run's.
func (a *Agent) invoke(ctx context.Context, w *queue.Work[Invocation]) error {
	err := a.tell(ctx, w)
	if err != nil && w.Ends(err) {
		return errors.Join(err, a.failed(ctx, w.Attempt, err))
	}
	return err
}

func (a *Agent) tell(ctx context.Context, w *queue.Work[Invocation]) error {
	if err := a.held(ctx, w.Attempt); err != nil {
		return err
	}
	profile := a.profiles[w.Payload.AgentName]
	if profile == nil {
		return queue.Fatal(fmt.Errorf("llm/agent: there is no profile %q; add it and retry the job, or remove the schedule %s",
			w.Payload.AgentName, w.Payload.ID))
	}
	about := &postroom.Message{AccountID: w.Payload.UserID}
	begun, err := queue.StepTx(ctx, w, "begin", func(ctx context.Context, tx queue.Tx) (begun, error) {
		return a.begin(ctx, tx, profile, about, w.Job.ID)
	})
	if err != nil {
		return err
	}
	if begun.Refused {
		w.SetResult(InvocationResult{Refused: true})
		return nil
	}
	r := &run{agent: a, profile: profile, client: a.cfg.Clients[profile.Model], journal: &durable{a, w.Attempt},
		id: begun.RunID, model: profile.Model, scope: Scope{AccountID: about.AccountID, Message: about},
		equal: map[string]int{}}
	material, err := r.journal.prepare(ctx, func(ctx context.Context) (prepared, error) {
		return a.material(ctx, w.Payload)
	})
	if err != nil {
		return err
	}
	r.prepared = &material
	end, err := r.report(ctx, w.Payload.Prompt)
	if err != nil {
		return llm.HandlerError(err)
	}
	output, _ := end.decision.Parameters.Text(paramOutput)
	w.SetResult(InvocationResult{Output: output, DurationMS: r.used.Duration.Milliseconds()})
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := a.ended(ctx, tx, r, &end, ""); err != nil || a.cfg.Told == nil {
			return err
		}
		state := StateDone
		if end.bound != "" {
			state = StateStopped
		}
		return a.cfg.Told(ctx, tx, Run{ID: r.id, AccountID: about.AccountID, Profile: profile.Name,
			Version: profile.Version, Model: r.model, JobID: w.Job.ID, State: state, Reason: end.bound,
			Outcome: end.outcome, Parameters: end.decision.Parameters, Usage: r.used})
	})
}

// material reads what is told of.
func (a *Agent) material(ctx context.Context, inv Invocation) (p prepared, err error) {
	mark, err := uuid7.New()
	if err != nil {
		return p, err
	}
	text, err := a.cfg.Material(ctx, inv)
	if err != nil {
		return p, fmt.Errorf("llm/agent: read what waits in account %s: %w", inv.UserID, err)
	}
	return prepared{Mark: "<<<" + mark, Mail: cleantext.Cut(cleantext.Visible(text), maxMaterial)}, nil
}

// report asks the model for a text within the bounds. A bound that is reached is the conclusion.
func (r *run) report(ctx context.Context, prompt string) (conclusion, error) {
	c := conclusion{outcome: OutcomeReport, decision: postroom.Decision{
		Rationale: cleantext.Cut(cleantext.OneLine(prompt), maxReason), Parameters: postroom.Parameters{}}}
	messages := r.prepared.reportMessages(r.profile, prompt)
	for {
		resp, err := r.ask(ctx, &llm.Request{Messages: messages, Purpose: "agent.report"})
		if reached := (*boundError)(nil); errors.As(err, &reached) {
			c.bound = reached.reason
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if text := strings.TrimSpace(cleantext.Visible(resp.Text)); text != "" {
			c.decision.Parameters[paramOutput] = cleantext.Cut(text, maxOutput)
			return c, nil
		}
		messages = append(messages, llm.Message{Role: llm.RoleUser, Text: "Write the text."})
	}
}
