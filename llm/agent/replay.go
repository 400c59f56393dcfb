package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// ErrNoMessage reports that a run is one of a schedule: what it told of is not kept.
var ErrNoMessage = errors.New("it is a run of a schedule and about no message; such runs are not repeated")

// Replay repeats a run with another of [Config].Clients, and returns the new run with its steps. Nothing is carried
// out: the outcome is put on record with the run and not in the ledger, and of the tools only safe ones are called. The
// mail and what the tools return are those of now. It counts for no limit but those of one run, and waits for nothing:
// an error of the model is returned, and the replay is on record as failed. [Agent.Cancel] ends it after the call that
// is under way. Do not call it inside a write transaction.
func (a *Agent) Replay(ctx context.Context, runID, model string) (Run, error) {
	before, err := a.Run(ctx, runID)
	if err != nil {
		return Run{}, err
	}
	profile, client := a.profiles[before.Profile], a.cfg.Clients[model]
	if profile == nil || client == nil {
		return Run{}, fmt.Errorf("llm/agent: replay run %s: there is no profile %q or no model %q; give both in the configuration",
			runID, before.Profile, model)
	}
	if before.MessageID == "" {
		return Run{}, fmt.Errorf("llm/agent: replay run %s: %w", runID, ErrNoMessage)
	}
	msg, err := a.cfg.Mail.Message(ctx, before.AccountID, before.MessageID)
	if err != nil {
		return Run{}, fmt.Errorf("llm/agent: replay run %s: %w", runID, err)
	}
	copied := *profile
	copied.Model = model
	var id string
	err = a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = insertRun(ctx, tx, &copied, msg, "", runID, "")
		return err
	})
	if err != nil {
		return Run{}, err
	}
	if err := a.replay(bodytext.With(ctx), &copied, msg, id); err != nil {
		return Run{}, errors.Join(fmt.Errorf("llm/agent: replay run %s: %w", runID, err), a.replayFailed(ctx, id, err))
	}
	return a.Run(ctx, id)
}

func (a *Agent) replay(ctx context.Context, p *Profile, msg *postroom.Message, id string) error {
	r, err := a.prepare(ctx, &replaying{a}, p, a.cfg.Clients[p.Model], msg, id)
	if err != nil {
		return err
	}
	end, err := r.conclude(ctx)
	if err != nil {
		return err
	}
	return a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return endRun(ctx, tx, r, &end, "") })
}

// replayFailed ends a replay even if its caller has gone.
func (a *Agent) replayFailed(ctx context.Context, id string, cause error) error {
	return a.cfg.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx queue.Tx) error {
		return failReplay(ctx, tx, id, cause)
	})
}

// errCanceled ends a replay whose run somebody has canceled. A job is interrupted instead.
var errCanceled = errors.New("the run was canceled")

// replaying is the journal of a replay.
type replaying struct{ agent *Agent }

func (r *replaying) prepare(ctx context.Context, fn func(ctx context.Context) (prepared, error)) (prepared, error) {
	return fn(ctx)
}

func (r *replaying) once(ctx context.Context, _ string, fn func(ctx context.Context) (result, error)) (result, error) {
	return fn(ctx)
}

func (r *replaying) record(ctx context.Context, s Step) error {
	var state State
	err := r.agent.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := insertStep(ctx, tx, &s); err != nil {
			return err
		}
		return dbquery.Get(ctx, tx, &state, sqlRunState, s.RunID)
	})
	if err == nil && state != StateRunning {
		err = errCanceled
	}
	return err
}

func (r *replaying) dry() bool { return true }
