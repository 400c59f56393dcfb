package queue

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
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
	return a, a.made(op)
}

// Step runs fn as a named step of the job and stores its result, durably, before it returns. A later attempt of the same job gets
// the stored result instead, and fn does not run again. If fn fails, nothing is stored.
//
// The process may die after fn and before its result is stored. Then fn runs again, so its external effects must be idempotent,
// or be reconciled first. A name, of at most 1000 bytes, identifies one step of a job, and is refused while that step is running.
// T is stored as JSON. A result that is not valid JSON, or is larger than [Config].MaxPayload, is a [Fatal] error, because fn
// would run again each time.
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

// StepTx is [Step] for a step that writes to the database: its writes and its result commit together, so that it takes effect
// exactly once.
func StepTx[T any](ctx context.Context, w Running, name string, fn func(ctx context.Context, tx Tx) (T, error)) (T, error) {
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

// StepStarted reports whether an earlier attempt, or this one, has recorded the start of the step; see [Attempt.StartStep].
func (a *Attempt) StepStarted(ctx context.Context, name string) (bool, error) {
	if err := a.made("step"); err != nil {
		return false, err
	}
	_, ok, err := a.step(ctx, name)
	return ok, err
}

// StartStep records, durably, that the step is about to be tried. It is for a step that must not be repeated blindly: an attempt
// that finds [Attempt.StepStarted] true first checks whether the step took effect. The result of a finished step stays.
func (a *Attempt) StartStep(ctx context.Context, name string) error {
	if err := a.made("start step"); err != nil {
		return err
	}
	if err := validStep(name); err != nil {
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

// under keeps a step from being run twice at a time, by another goroutine or from within itself: it would take effect twice.
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
		return false, wrap("step", a.job.ID, undecided(fmt.Errorf("stored result of step %s does not fit its type: %w", name, err)))
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
