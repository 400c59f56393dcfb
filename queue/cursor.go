package queue

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// Cursor returns the position of the named step that [SaveCursor] stored in this attempt or an earlier one. It returns false if
// nothing was stored, or if the step is finished. A position stored by [SaveCursorTx] counts while the transaction is open, and
// afterwards if it has committed.
func Cursor[T any](ctx context.Context, w Running, name string) (T, bool, error) {
	var value T
	a, err := attemptOf(w, "cursor")
	if err != nil {
		return value, false, err
	}
	step, _, err := a.step(ctx, name)
	if err != nil || step.Cursor == nil {
		return value, false, err
	}
	if err := unmarshal(step.Cursor, &value); err != nil {
		return value, false, wrap("cursor", a.job.ID, undecided(fmt.Errorf("stored cursor of step %s does not fit its type: %w", name, err)))
	}
	return value, true, nil
}

// SaveCursor stores, durably, how far the named step has come, so that a later attempt continues from there: the page of a list,
// the row of a table. Work up to value is repeated if the process dies before the value is stored; if that work is a write to the
// database, use [SaveCursorTx]. The value is stored as JSON, of at most [Config].MaxPayload bytes.
//
// When a step of the same name, run by [Step] around the calls, finishes, its cursor is deleted; saving it then is refused with
// [ErrStepFinished]. A cursor without a step lasts as long as its job. [Attempt.StepStarted] is true of its name.
func SaveCursor(ctx context.Context, w Running, name string, value any) error {
	a, err := attemptOf(w, "save cursor")
	if err != nil {
		return err
	}
	// The work up to value is done, so the cursor is kept even if the job has been canceled meanwhile.
	return a.q.write(driver.Begun(ctx), func(ctx context.Context, tx *driver.WriteTx) error {
		return SaveCursorTx(ctx, tx, w, name, value)
	})
}

// SaveCursorTx is [SaveCursor] as part of a transaction, which commits only if the attempt still holds its job: its writes and
// the cursor are stored together or not at all.
func SaveCursorTx(ctx context.Context, tx Tx, r Running, name string, value any) error {
	a, err := attemptOf(r, "save cursor")
	if err != nil {
		return err
	}
	if err := validStep(name); err != nil {
		return wrap("save cursor", a.job.ID, err)
	}
	plain, err := a.q.encode(value)
	if err != nil {
		return wrap("save cursor "+name, a.job.ID, Fatal(fmt.Errorf("value: %w", err)))
	}
	stored, err := a.q.codecs.encode(plain, cursorPlace(a.job.ID, name), "")
	if err != nil {
		return wrap("save cursor "+name, a.job.ID, err)
	}
	w, leave, err := a.q.join(ctx, tx)
	if err != nil {
		return wrap("save cursor "+name, a.job.ID, err)
	}
	defer leave()
	if err := a.q.driver.SaveCursor(ctx, w, a.job.lease(), name, stored); err != nil {
		return wrap("save cursor "+name, a.job.ID, err)
	}
	a.saves(w)
	now := w.Now()
	w.OnCommit(func() { a.rememberCursor(name, plain, now) })
	return nil
}

// saves remembers the transaction in which a cursor was saved.
func (a *Attempt) saves(w *driver.WriteTx) {
	a.mu.Lock()
	a.saving = w
	a.mu.Unlock()
	over := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.saving == w {
			a.saving = nil
		}
	}
	w.OnCommit(over)
	w.OnRollback(over)
}

// savedStep reads a step in the transaction in which a cursor was saved, while that is open. When it has ended and its result was
// not reported, the steps are read again.
func (a *Attempt) savedStep(ctx context.Context, name string) (step StepRecord, found, open bool) {
	a.mu.Lock()
	w := a.saving
	a.mu.Unlock()
	if w == nil {
		return step, false, false
	}
	steps, err := a.readSteps(ctx, w)
	switch {
	case errors.Is(err, sql.ErrTxDone):
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.saving == w {
			a.saving, a.steps, a.stale = nil, nil, true
		}
		return step, false, false
	case err != nil:
		return step, false, false // it has failed, and will be rolled back
	}
	for _, step := range steps {
		if step.Name == name {
			return step, true, true
		}
	}
	return step, false, true
}

func (a *Attempt) readSteps(ctx context.Context, w *driver.WriteTx) ([]StepRecord, error) {
	if w.Joined() {
		leave, err := callTurns.take(ctx, w.Tx)
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	stored, err := a.q.driver.ReadSteps(ctx, w, a.job.ID)
	return a.q.stepsOf(stored), err
}

func (a *Attempt) rememberCursor(name string, value json.RawMessage, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.steps == nil {
		if a.job.Attempt > 1 || a.stale {
			return // it will be read with the others
		}
		a.steps = make(map[string]StepRecord)
	}
	step, started := a.steps[name]
	if !started {
		step = StepRecord{JobID: a.job.ID, Name: name, StartedAt: now}
	}
	step.Attempt, step.Cursor = a.job.Attempt, value
	a.steps[name] = step
}
