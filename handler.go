package postroom

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// A Handler carries out one action of a kind that is the host's own. It runs in the action's job: a plain error is retried as
// the job's are, and an error made by queue.Fatal, queue.RetryAfter or queue.Defer has its usual meaning. What it does outside
// the database can happen twice, after a crash: guard it with [Step], or make it idempotent.
//
// The action completes in the transaction that Commit of the [Outcome] is called in.
type Handler func(ctx context.Context, run Run, action Action) (Outcome, error)

// An Undoer undoes what a [Handler] has done, in the job of the undo. The action is the one to undo; Undo of its UndoHint
// is what the handler left. Errors are as for a Handler.
type Undoer func(ctx context.Context, run Run, action Action) (Commit, error)

// A Commit writes what belongs to the end of an action, in the transaction that completes it: an error rolls both back, and
// the job is tried again. It does database work only.
type Commit func(ctx context.Context, tx Tx) error

// A StoreChange stores a change of a message's labels that the program has made at the provider, in the caller's transaction; the
// message had the image after it.
type StoreChange func(ctx context.Context, tx Tx, change LabelChange, after Image) error

// An Outcome is what a [Handler] has done.
type Outcome struct {
	// Undo is what the Undoer of the kind needs, such as the id of the task that was made. It is stored as JSON in
	// [UndoHint]. Default nil.
	Undo Parameters
	// Commit is called in the transaction that completes the action and its job. Default nil: nothing more is written.
	Commit Commit
}

// A Run is one attempt of the job that carries out or undoes an action.
type Run interface {
	// JobID returns the id of the job.
	JobID() string
	// StepJSON runs fn as a named step and stores its result durably before it returns; a later attempt of the job gets the
	// stored result, and fn does not run again. [Step] is the convenient form.
	StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage, error)) (json.RawMessage, error)
	// StartStep records durably that the step is about to be tried, and StepStarted reports whether this or an earlier
	// attempt has done so. They are for what must not be repeated blindly.
	StartStep(ctx context.Context, name string) error
	StepStarted(ctx context.Context, name string) (bool, error)
}

// A Tx is a transaction, as package queue has them: it can be given to calls such as EnqueueTx of a queue.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Step runs fn as a named step of the run and stores its result, as JSON, before it returns. A later attempt gets the stored
// result, and fn does not run again. When fn fails, nothing is stored. A name stands for one step of an action.
func Step[T any](ctx context.Context, run Run, name string, fn func(ctx context.Context) (T, error)) (T, error) {
	var result T
	stored, err := run.StepJSON(ctx, name, func(ctx context.Context) (json.RawMessage, error) {
		value, err := fn(ctx)
		if err != nil {
			return nil, err
		}
		return json.Marshal(value)
	})
	if err != nil {
		return result, err
	}
	if err := json.Unmarshal(stored, &result); err != nil {
		return result, fmt.Errorf("step %s: its stored result does not fit %T: %w", name, result, err)
	}
	return result, nil
}
