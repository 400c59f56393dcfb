package queue

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/txlock"
)

// A Running is a job under way: a [*Work] or an [*Attempt].
type Running interface{ attempt() *Attempt }

func (a *Attempt) attempt() *Attempt { return a }

// attemptOf returns the attempt that was passed to a call about a step.
func attemptOf(r Running, op string) (*Attempt, error) {
	if r == nil {
		return nil, wrap(op, "", errMadeUp)
	}
	a := r.attempt()
	if err := a.made(op); err != nil {
		return a, err
	}
	return a, a.waits()
}

// Step runs fn as a named step of the job and stores its result, durably, before it returns. A later attempt of the
// same job gets the stored result instead, and fn does not run again. If fn fails, nothing is stored.
//
// The process may die after fn and before its result is stored. Then fn runs again, so its external effects must be
// idempotent, or be reconciled first. A name, of at most 1000 bytes, identifies one step of a job, and is refused while
// that step is running. T is stored as JSON. A result that is not valid JSON, or is larger than [Config].MaxPayload, is
// a [Fatal] error, because fn would run again each time.
func Step[T any](ctx context.Context, w Running, name string, fn func(ctx context.Context) (T, error)) (T, error) {
	var result T
	a, err := attemptOf(w, "step")
	if err != nil {
		return result, err
	}
	if fn == nil {
		return result, wrap("step", a.job.ID, driver.ErrNilFunc)
	}
	over, err := a.under(ctx, name)
	if err != nil {
		return result, err
	}
	defer over()
	if done, err := a.stored(ctx, name, &result); done || err != nil {
		return result, err
	}
	if a.q.inWrite(ctx) { // before fn takes effect
		return result, wrap("step", a.job.ID, ErrNestedWrite)
	}
	step := StepRecord{Name: name, StartedAt: a.q.now()}
	if result, err = fn(ctx); err != nil {
		return result, err
	}
	// fn has taken effect: that is kept also when the job has been canceled meanwhile.
	err = a.q.write(driver.Begun(ctx), func(ctx context.Context, tx *driver.WriteTx) error {
		step, err = a.q.finishStepTx(ctx, tx, a.job.lease(), step, result)
		return err
	})
	if err == nil {
		a.remember(step)
	}
	return result, err
}

// StepTx is [Step] for a step that writes to the database: its writes and its result commit together, so that it takes
// effect exactly once.
func StepTx[T any](
	ctx context.Context, w Running, name string, fn func(ctx context.Context, tx Tx) (T, error),
) (T, error) {
	var result T
	a, err := attemptOf(w, "step")
	if err != nil {
		return result, err
	}
	if fn == nil {
		return result, wrap("step", a.job.ID, driver.ErrNilFunc)
	}
	over, err := a.under(ctx, name)
	if err != nil {
		return result, err
	}
	defer over()
	if done, err := a.stored(ctx, name, &result); done || err != nil {
		return result, err
	}
	var step StepRecord
	err = a.write(ctx, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		if result, err = fn(ctx, tx); err != nil {
			return err
		}
		step, err = a.q.finishStepTx(ctx, tx, a.job.lease(), StepRecord{Name: name, StartedAt: tx.Now()}, result)
		return err
	})
	if err == nil {
		a.remember(step)
	}
	return result, err
}

// StepStarted reports whether an earlier attempt, or this one, has recorded the start of the step; see
// [Attempt.StartStep].
func (a *Attempt) StepStarted(ctx context.Context, name string) (bool, error) {
	if err := a.made("step"); err != nil {
		return false, err
	}
	_, ok, err := a.step(ctx, name)
	return ok, err
}

// StartStep records, durably, that the step is about to be tried. It is for a step that must not be repeated blindly:
// an attempt that finds [Attempt.StepStarted] true first checks whether the step took effect. The result of a finished
// step stays.
func (a *Attempt) StartStep(ctx context.Context, name string) error {
	if err := a.made("start step"); err != nil {
		return err
	}
	if err := cmp.Or(a.waits(), validStep(name)); err != nil {
		return wrap("start step", a.job.ID, err)
	}
	step, started, err := a.step(ctx, name)
	if err != nil {
		return err
	}
	err = a.q.write(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return wrap("start step "+name, a.job.ID, a.q.driver.StartStep(ctx, tx, a.job.lease(), name))
	})
	if err != nil {
		return err
	}
	if !started {
		step.Name = name
		a.remember(step)
	}
	return nil
}

// under keeps a step from being run twice at a time, by another goroutine or from within itself: it would take effect
// twice.
func (a *Attempt) under(ctx context.Context, name string) (over func(), err error) {
	if err := validContext(ctx); err != nil {
		return nil, wrap("step", a.job.ID, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.underWay[name] {
		return nil, wrap("step", a.job.ID, fmt.Errorf("step %s is under way: give each step a name of its own", name))
	}
	if a.underWay == nil {
		a.underWay = make(map[string]bool)
	}
	a.underWay[name] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.underWay, name)
	}, nil
}

func (a *Attempt) stored(ctx context.Context, name string, result any) (bool, error) {
	if err := validStep(name); err != nil {
		return false, wrap("step", a.job.ID, err)
	}
	step, ok, err := a.step(ctx, name)
	if err != nil || !ok || step.FinishedAt.IsZero() {
		return false, err
	}
	if err := unmarshal(step.Result, result); err != nil {
		return false, wrap("step", a.job.ID,
			a.unfit(ctx, fmt.Errorf("stored result of step %s"+unfitText+"its type: %w", name, err)))
	}
	return true, nil
}

// step looks up a step among those of earlier attempts, read once, and those of this one.
func (a *Attempt) step(ctx context.Context, name string) (StepRecord, bool, error) {
	if err := validContext(ctx); err != nil {
		return StepRecord{}, false, wrap("step", a.job.ID, err)
	}
	if step, ok, open := a.savedStep(ctx, name); open {
		return step, ok, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.steps == nil {
		steps := make(map[string]StepRecord)
		if a.job.Attempt > 1 || a.stale {
			stored, err := a.q.Steps(ctx, a.job.ID)
			if err != nil {
				return StepRecord{}, false, err
			}
			for _, s := range stored {
				steps[s.Name] = s
			}
		}
		a.steps, a.stale = steps, false
	}
	step, ok := a.steps[name]
	return step, ok, nil
}

func (a *Attempt) remember(step StepRecord) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.steps != nil { // or it will be read
		a.steps[step.Name] = step
	}
}

func (q *Queue) finishStepTx(
	ctx context.Context, tx *driver.WriteTx, lease driver.Lease, step StepRecord, result any,
) (StepRecord, error) {
	plain, err := q.encode(result)
	if err != nil {
		// Not to be retried: the step would take effect each time, and its result never be kept.
		return step, wrap("finish step "+step.Name, lease.JobID, Fatal(fmt.Errorf("result: %w", err)))
	}
	step.JobID, step.Attempt, step.FinishedAt = lease.JobID, lease.Attempt, tx.Now()
	if step.Result, err = q.codecs.encode(plain, stepPlace(lease.JobID, step.Name), ""); err != nil {
		return step, wrap("finish step "+step.Name, lease.JobID, err)
	}
	err = q.driver.FinishStep(ctx, tx, lease, driver.StepRecord(step))
	step.Result = plain
	return step, wrap("finish step "+step.Name, lease.JobID, err)
}

var errInvalidStep = errors.New("invalid step")

func validStep(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a step needs a name", errInvalidStep)
	}
	return validTextOf(errInvalidStep, "its name", name, maxKeyLength)
}

// Cursor returns the position of the named step that [SaveCursor] stored in this attempt or an earlier one. It returns
// false if nothing was stored, or if the step is finished. A position stored by [SaveCursorTx] counts while the
// transaction is open, and afterwards if it has committed.
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
		return value, false, wrap("cursor", a.job.ID,
			a.unfit(ctx, fmt.Errorf("stored cursor of step %s"+unfitText+"its type: %w", name, err)))
	}
	return value, true, nil
}

// SaveCursor stores, durably, how far the named step has come, so that a later attempt continues from there: the page
// of a list, the row of a table. Work up to value is repeated if the process dies before the value is stored; if that
// work is a write to the database, use [SaveCursorTx]. The value is stored as JSON, of at most [Config].MaxPayload
// bytes.
//
// When a step of the same name, run by [Step] around the calls, finishes, its cursor is deleted; saving it then is
// refused with [ErrStepFinished]. A cursor without a step lasts as long as its job. [Attempt.StepStarted] is true of
// its name.
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

// SaveCursorTx is [SaveCursor] as part of a transaction, which commits only if the attempt still holds its job: its
// writes and the cursor are stored together or not at all.
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
	w, leave, err := a.q.adopt(ctx, tx)
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

// savedStep reads a step in the transaction in which a cursor was saved, while that is open. When it has ended and its
// result was not reported, the steps are read again.
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
	if w.Adopted() {
		leave, err := txlock.Lock(ctx, w.Tx)
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
