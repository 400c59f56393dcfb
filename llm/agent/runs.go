package agent

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package (agent_profiles, agent_runs, agent_steps) or brings them up to date. Call
// it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm/agent: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm/agent", migrations)
}

// A State is the state of a run.
type State string

// The states. A run starts running or refused; all others are final.
const (
	StateRunning  State = "running"  // or its job has ended without it: see [Agent.Settle]
	StateDone     State = "done"     // the model has ended it with an outcome
	StateStopped  State = "stopped"  // a bound has ended it; the outcome is escalate or none
	StateFailed   State = "failed"   // its job has failed; there is no outcome
	StateRefused  State = "refused"  // a limit of the day or the thread was reached, or the profile is paused
	StateCanceled State = "canceled" // by [Agent.Cancel]
)

// A Usage is what a run has used.
type Usage struct {
	ModelCalls int
	ToolCalls  int
	Tokens     int
	Cost       llm.Money
	Duration   time.Duration // of all calls together
}

func (u *Usage) add(s *Step) {
	u.Tokens += s.Tokens
	u.Cost += s.Cost
	u.Duration += s.Duration
}

// A Run is the record of a run. One of a [JobInvocation] has no thread and no message.
type Run struct {
	ID        string
	AccountID string
	ThreadID  string
	MessageID string
	Profile   string
	Version   string // of the profile
	Model     string // that answered, as provider::model
	JobID     string // empty for a replay
	ReplayOf  string // the run that this one repeats; empty for none
	State     State
	Reason    string // why it was stopped, refused or canceled, or has failed; of an outcome, what the model says
	Outcome   Outcome
	// Parameters are those of the decision. In a replay no decision was recorded.
	Parameters postroom.Parameters
	ActionID   string // of the ledger; empty without one
	Usage      Usage  // zero until the run has ended, and of one that failed or was canceled
	StartedAt  time.Time
	EndedAt    time.Time // zero while it runs
	Steps      []Step    // only of [Agent.Run] and [Agent.Replay]
}

// A StepKind says what was called.
type StepKind string

// The kinds of steps.
const (
	StepModel StepKind = "model"
	StepTool  StepKind = "tool"
)

// A Step is the record of one call. Input and Output are cut to 4 KB; those of a model are the last message that it was
// sent, and its answer.
type Step struct {
	RunID       string        `db:"run_id"`
	N           int           `db:"n"` // from 1
	Kind        StepKind      `db:"kind"`
	Name        string        `db:"name"`         // of the tool, or the purpose of the call of the model
	Input       string        `db:"input"`        // the arguments
	InputSHA256 string        `db:"input_sha256"` // of the whole input, hexadecimal
	Output      string        `db:"output"`
	Fault       string        `db:"fault"` // why there is no output; empty if there is
	Tokens      int           `db:"tokens"`
	Cost        llm.Money     `db:"cost"`
	Millis      int64         `db:"duration_ms"`
	Duration    time.Duration `db:"-"`
}

type runRow struct {
	ID         string      `db:"id"`
	AccountID  string      `db:"account_id"`
	ThreadID   string      `db:"thread_id"`
	MessageID  string      `db:"message_id"`
	Profile    string      `db:"profile"`
	Version    string      `db:"version"`
	Model      string      `db:"model"`
	JobID      string      `db:"job_id"`
	ReplayOf   string      `db:"replay_of"`
	State      State       `db:"state"`
	Reason     string      `db:"reason"`
	Outcome    Outcome     `db:"outcome"`
	Parameters string      `db:"parameters"`
	ActionID   string      `db:"action_id"`
	ModelCalls int         `db:"model_calls"`
	ToolCalls  int         `db:"tool_calls"`
	Tokens     int         `db:"tokens"`
	Cost       llm.Money   `db:"cost"`
	Millis     int64       `db:"duration_ms"`
	StartedAt  dbtime.Time `db:"started_at"`
	EndedAt    dbtime.Time `db:"ended_at"`
}

func (r *runRow) value() (Run, error) {
	run := Run{ID: r.ID, AccountID: r.AccountID, ThreadID: r.ThreadID, MessageID: r.MessageID, Profile: r.Profile,
		Version: r.Version, Model: r.Model, JobID: r.JobID, ReplayOf: r.ReplayOf, State: r.State, Reason: r.Reason,
		Outcome: r.Outcome, ActionID: r.ActionID, StartedAt: r.StartedAt.Time, EndedAt: r.EndedAt.Time,
		Usage: Usage{r.ModelCalls, r.ToolCalls, r.Tokens, r.Cost, time.Duration(r.Millis) * time.Millisecond}}
	if err := json.Unmarshal([]byte(r.Parameters), &run.Parameters); err != nil {
		return run, fmt.Errorf("llm/agent: read the parameters of run %s: %w", r.ID, err)
	}
	return run, nil
}

// A Filter selects runs. The zero Filter selects all.
type Filter struct {
	AccountID string // empty: of all accounts
	Profile   string // empty: of all profiles
	MessageID string // empty: about all messages
	Before    string // the id of a run: those that started before it; empty: from the newest
	Limit     int    // default 100; at most 1000
}

// Runs returns runs, newest first, without their steps.
func (a *Agent) Runs(ctx context.Context, f Filter) ([]Run, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	var rows []runRow
	err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlRuns, f.AccountID, f.Profile, f.MessageID, f.Before,
		min(f.Limit, 1000))
	if err != nil {
		return nil, fmt.Errorf("llm/agent: read the runs: %w", err)
	}
	list := make([]Run, len(rows))
	for i := range rows {
		if list[i], err = rows[i].value(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Run returns one run with its steps. An unknown id is [postroom.ErrNotFound].
func (a *Agent) Run(ctx context.Context, id string) (Run, error) {
	var row runRow
	err := dbquery.Get(ctx, a.cfg.DB.Reader(), &row, sqlRun, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Run{}, fmt.Errorf("llm/agent: read run %q: %w", id, err)
	}
	r, err := row.value()
	if err != nil {
		return r, err
	}
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &r.Steps, sqlSteps, id); err != nil {
		return r, fmt.Errorf("llm/agent: read the steps of run %q: %w", id, err)
	}
	for i := range r.Steps {
		r.Steps[i].Duration = time.Duration(r.Steps[i].Millis) * time.Millisecond
	}
	return r, nil
}

// A Used is what the runs of a profile have used.
type Used struct {
	Profile string    `db:"profile"`
	Runs    int       `db:"runs"` // without those that were refused, and replays
	Tokens  int       `db:"tokens"`
	Cost    llm.Money `db:"cost"` // with replays
}

// Used returns what the runs of an account have used that started after the time, by profile. An empty account is all
// of them. A profile without a run is left out.
func (a *Agent) Used(ctx context.Context, accountID string, since time.Time) (list []Used, err error) {
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &list, sqlUsed, dbtime.Of(since), accountID); err != nil {
		return nil, fmt.Errorf("llm/agent: count what runs have used: %w", err)
	}
	return list, nil
}

// maxRecorded bounds the input and the output of a step on record, in bytes.
const maxRecorded = 4 << 10

func insertStep(ctx context.Context, tx queue.Tx, s *Step) error {
	sum := sha256.Sum256([]byte(s.Input))
	_, err := dbquery.Exec(ctx, tx, sqlInsertStep, s.RunID, s.N, string(s.Kind), s.Name, recorded(s.Input),
		hex.EncodeToString(sum[:]), recorded(s.Output), recorded(s.Fault), s.Tokens, s.Cost, s.Duration.Milliseconds())
	if err != nil {
		return fmt.Errorf("llm/agent: record step %d of run %s: %w", s.N, s.RunID, err)
	}
	return nil
}

// recorded cuts a text to its first bytes, at the end of a character.
func recorded(text string) string {
	if len(text) > maxRecorded {
		end := maxRecorded
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return dbvalue.Clean(text)
}

// insertRun records the start of a run, or that it is refused.
func insertRun(ctx context.Context, tx queue.Tx, p *Profile, msg *postroom.Message, jobID, replayOf, refused string) (
	string, error) {
	id, err := uuid7.New()
	if err != nil {
		return "", err
	}
	now := dbtime.Truncate(queue.Now(tx))
	state, ended := StateRunning, dbtime.Time{}
	if refused != "" {
		state, ended = StateRefused, dbtime.Of(now)
	}
	_, err = dbquery.Exec(ctx, tx, sqlInsertRun, id, msg.AccountID, msg.ThreadID, msg.ID, p.Name, p.Version, p.Model,
		jobID, replayOf, string(state), refused, dbtime.Of(now), ended)
	if err != nil {
		return "", fmt.Errorf("llm/agent: record a run about message %s: %w", msg.ID, err)
	}
	return id, nil
}

// endRun records the end of a run.
func endRun(ctx context.Context, tx queue.Tx, r *run, end *conclusion, actionID string) error {
	state, reason := StateDone, end.decision.Rationale
	if end.bound != "" {
		state, reason = StateStopped, end.bound
	}
	parameters, err := encodeParameters(end.decision.Parameters)
	if err != nil {
		return err
	}
	n, err := dbquery.Exec(ctx, tx, sqlEndRun, string(state), dbvalue.Clean(reason), string(end.outcome),
		dbvalue.Clean(parameters), actionID, dbvalue.Clean(r.model), r.used.ModelCalls, r.used.ToolCalls, r.used.Tokens,
		r.used.Cost, r.used.Duration.Milliseconds(), dbtime.Of(dbtime.Truncate(queue.Now(tx))), r.id)
	if err == nil && n == 0 {
		err = errCanceled
	}
	if err != nil {
		return fmt.Errorf("llm/agent: record the end of run %s: %w", r.id, err)
	}
	return nil
}

// failReplay records that a replay has failed.
func failReplay(ctx context.Context, tx queue.Tx, id string, cause error) error {
	_, err := dbquery.Exec(ctx, tx, sqlFailReplay, dbvalue.Clean(cause.Error()),
		dbtime.Of(dbtime.Truncate(queue.Now(tx))), id)
	return err
}

// Prune deletes the runs that started before the time and do not run any more, with their steps, and returns the number
// of runs.
func (a *Agent) Prune(ctx context.Context, before time.Time) (int, error) {
	if _, err := dbquery.DeleteInBatches(ctx, a.cfg.DB, sqlPruneSteps, dbtime.Of(before)); err != nil {
		return 0, fmt.Errorf("llm/agent: prune the steps of runs: %w", err)
	}
	n, err := dbquery.DeleteInBatches(ctx, a.cfg.DB, sqlPruneRuns, dbtime.Of(before))
	if err != nil {
		return n, fmt.Errorf("llm/agent: prune the runs: %w", err)
	}
	return n, nil
}

// Forget deletes the runs of an account that is removed.
func (a *Agent) Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForgetSteps, sqlForgetRuns} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("llm/agent: forget the runs of account %s: %w", accountID, err)
		}
	}
	return nil
}
