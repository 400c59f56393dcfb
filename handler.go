package postroom

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
)

// A Handler carries out one action of the host's own kind. It runs in the action's job: a plain error is retried like
// the job's, and an error made by queue.Fatal, queue.RetryAfter or queue.Defer has its usual meaning. Effects outside
// the database can happen twice after a crash: guard them with [Step], or make them idempotent.
//
// The action completes in the transaction in which Commit of the [Outcome] is called.
type Handler func(ctx context.Context, run Run, action Action) (Outcome, error)

// An Undoer undoes the work of a [Handler], in the job of the undo. It gets the action to undo; Undo of its UndoHint
// is the handler's [Outcome].Undo. Errors are handled as for a Handler.
type Undoer func(ctx context.Context, run Run, action Action) (Commit, error)

// A Commit writes the final changes of an action in the transaction that completes it. An error rolls both back, and
// the job is retried. It must only do database work.
type Commit func(ctx context.Context, tx Tx) error

// A StoreChange stores, in the caller's transaction, a change of a message's labels that the program has made at the
// provider. The snapshot is the message after the change.
type StoreChange func(ctx context.Context, tx Tx, change LabelChange, after Snapshot) error

// An Outcome is the result of a [Handler].
type Outcome struct {
	// Undo is the data that the Undoer of the kind needs, such as the id of a task that was created. It is stored as
	// JSON in [UndoHint]. Default nil.
	Undo Parameters
	// Commit is called in the transaction that completes the action and its job. Default nil: nothing more is written.
	Commit Commit
}

// A Run is one attempt of the job that carries out or undoes an action.
type Run interface {
	// JobID returns the id of the job.
	JobID() string
	// StepJSON runs fn as a named step and stores its result durably before it returns. A later attempt of the job gets
	// the stored result, and fn does not run again. [Step] is the convenient form.
	StepJSON(ctx context.Context, name string, fn func(ctx context.Context) (json.RawMessage, error)) (
		json.RawMessage, error)
	// StartStep records durably that the step is about to be tried. StepStarted reports whether this or an earlier
	// attempt has recorded that. They are for steps that must not be repeated blindly.
	StartStep(ctx context.Context, name string) error
	StepStarted(ctx context.Context, name string) (bool, error)
}

// A Tx is a transaction of package queue. It can be passed to calls such as EnqueueTx of a queue.
type Tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Step runs fn as a named step of the run and stores its result, as JSON, before it returns. A later attempt gets the
// stored result, and fn does not run again. If fn fails, nothing is stored. A name must identify one step of an
// action.
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
