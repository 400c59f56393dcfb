package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue/driver"
)

var (
	// ErrWaiting: [Await] or [Sleep] has ended the attempt. The handler returns the error, and runs again from its
	// start when what it waits for has come.
	ErrWaiting = errors.New("the attempt has ended, and its job waits")
	// ErrNoSignal: the signal that [Await] waited for has not come in time.
	ErrNoSignal = errors.New("no signal came in time")
)

// A SignalRecord is a signal that was sent to a job, or that its handler awaits, or both.
type SignalRecord = driver.Signal

// Signal sends a signal to a job, with a payload for the [Await] of that name. A job that waits for it becomes due.
// Otherwise the signal is kept for a later Await, also if the job is running, has not begun or waits for its next
// attempt; two are kept in order. The payload is anything that encoding/json takes, of at most [Config].MaxPayload
// bytes. The name is of 1 to 1000 bytes; a job takes up to 10,000 signals of each.
//
// The error is [ErrFinished], [ErrJobNotFound], [ErrTooLarge], or [driver.ErrJobMoves] while queueadmin.Move moves the
// job.
func (q *Queue) Signal(ctx context.Context, jobID, name string, payload any) error {
	return q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
		return q.SignalTx(ctx, tx, jobID, name, payload)
	})
}

// SignalTx is Signal as part of a transaction.
func (q *Queue) SignalTx(ctx context.Context, tx Tx, jobID, name string, payload any) error {
	w, leave, err := q.adopt(ctx, tx)
	if err != nil {
		return wrap("signal", jobID, err)
	}
	defer leave()
	return wrap("signal", jobID, q.signal(ctx, w, lookup(jobID), name, payload))
}

func (q *Queue) signal(ctx context.Context, tx *driver.WriteTx, jobID, name string, payload any) error {
	if err := validSignal(name); err != nil {
		return err
	}
	stored, err := q.encodeAt(signalPlace(jobID, name), payload)
	if err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	awaited, err := q.driver.AddSignal(ctx, tx, driver.Signal{JobID: jobID, Name: name, AnsweredAt: tx.Now(),
		Payload: stored})
	if err != nil || !awaited {
		return err
	}
	if err := q.driver.Hasten(ctx, tx, jobID); err != nil {
		return err
	}
	return q.driver.Notify(ctx, tx)
}

var errInvalidSignal = errors.New("invalid signal")

func validSignal(name string) error {
	if name == "" {
		return fmt.Errorf("%w: a signal needs a name", errInvalidSignal)
	}
	return validTextOf(errInvalidSignal, "its name", name, maxKeyLength)
}

// Signals lists the signals that were sent to a job, and those that its handler awaits, by name and number.
func (q *Queue) Signals(ctx context.Context, jobID string) ([]SignalRecord, error) {
	signals, err := q.driver.Signals(ctx, lookup(jobID))
	for i := range signals {
		s := &signals[i]
		s.Payload, _ = q.codecs.decode(s.Payload, signalPlace(s.JobID, s.Name)) // or it is shown as it is stored
	}
	return signals, wrap("signals", jobID, err)
}

// Await returns the payload of the next signal of that name, and is the durable wait for it. If the signal is not there
// yet, Await ends the attempt: it returns an [ErrWaiting], which the handler returns. No failure and no interruption is
// counted, and the job takes no slot and no capacity of a limit. When the signal comes ([Queue.Signal]) or the timeout
// is over, the handler runs again from its start: its steps give what they have stored, and Await returns.
//
//	approved, err := queue.Await[bool](ctx, w, "approval", 48*time.Hour)
//	if err != nil {
//		return err
//	}
//
// The timeout is counted from the first Await; 0 waits for ever. When it is over, the error is [ErrNoSignal], which
// fails the attempt unless the handler decides otherwise. What Await has once answered is stored, payload or timeout:
// later attempts get the same, also after [Queue.Retry], so that a handler that cannot go on without the signal returns
// [Fatal], or awaits another. The nth Await of a name in a handler gets the nth answer, so that two that follow each
// other take two signals.
//
// After an ErrWaiting the attempt has ended, whatever the handler returns: its steps and writes are refused. Await is
// refused inside a write transaction, and while a step runs, because that would run again. If the payload does not fit
// T, the attempt ends as it does for a payload of a job that does not fit.
func Await[T any](ctx context.Context, w Running, name string, timeout time.Duration) (T, error) {
	var payload T
	a, err := attemptOf(w, "await")
	if err != nil {
		return payload, err
	}
	answer, err := a.await(ctx, name, timeout)
	if err != nil {
		return payload, err
	}
	if answer.Payload == nil {
		return payload, wrap("await", a.job.ID, fmt.Errorf("%s: %w", name, ErrNoSignal))
	}
	if err := unmarshal(answer.Payload, &payload); err != nil {
		return payload, wrap("await", a.job.ID,
			a.unfit(ctx, fmt.Errorf("payload of signal %s"+unfitText+"%T: %w", name, payload, err)))
	}
	return payload, nil
}

// Sleep is [Await] without a signal: it ends the attempt, and returns nil in the one that runs when the time is over.
// The time is counted from the first Sleep. A signal of that name ends it early. With a d of 0 or less it returns at
// once, so that a handler may sleep until one instant after another:
//
//	err := queue.Sleep(ctx, w, "reminder", time.Until(at))
func Sleep(ctx context.Context, w Running, name string, d time.Duration) error {
	a, err := attemptOf(w, "sleep")
	if err != nil {
		return err
	}
	if d <= 0 {
		known, err := a.passed(ctx, name)
		if err != nil || !known {
			return wrap("sleep", a.job.ID, err)
		}
		d = 1 // it has begun in an earlier attempt, for longer
	}
	_, err = a.await(ctx, name, d)
	return err
}

// passed reports whether the next Await of the name is stored already. One that is not is passed over: the next one of
// the name is the one after it, as in an attempt in which the time was not over.
func (a *Attempt) passed(ctx context.Context, name string) (known bool, err error) {
	want, err := a.wanted(ctx, name, 0)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.readSignals(ctx); err != nil {
		return false, err
	}
	known = slices.ContainsFunc(a.signals, func(s SignalRecord) bool {
		return s.Name == name && s.Number == want.Number
	})
	if !known {
		a.awaits[name] = want.Number
	}
	return known, nil
}

// A parking is the end of an attempt that waits.
type parking struct {
	err error
	out driver.Outcome
}

// waits returns the error of the Await that has ended the attempt; nil if none has.
func (a *Attempt) waits() error {
	if p := a.parked.Load(); p != nil {
		return p.err
	}
	return nil
}

// await returns the answered signal, or ends the attempt.
func (a *Attempt) await(ctx context.Context, name string, timeout time.Duration) (answer driver.Signal, err error) {
	want, err := a.wanted(ctx, name, timeout)
	if err != nil {
		return answer, wrap("await", a.job.ID, err)
	}
	answer, err = a.answered(ctx, want)
	if err == nil && answer.AnsweredAt.IsZero() {
		var parked *parking
		err = a.q.writeAgain(ctx, func(ctx context.Context, tx *driver.WriteTx) error {
			answer, parked, err = a.awaitTx(ctx, tx, want, timeout)
			return err
		})
		if err == nil && parked != nil {
			return answer, parked.err
		}
	}
	if err != nil {
		return answer, wrap("await", a.job.ID, err)
	}
	a.mu.Lock()
	a.awaits[name] = want.Number
	a.mu.Unlock()
	answer.Payload, err = a.q.codecs.decode(answer.Payload, signalPlace(a.job.ID, name))
	if err != nil {
		return answer, wrap("await", a.job.ID, undecided(fmt.Errorf("payload of signal %s: %w", name, err)))
	}
	return answer, nil
}

// wanted returns the signal that the next Await of the name is for.
func (a *Attempt) wanted(ctx context.Context, name string, timeout time.Duration) (want driver.Signal, err error) {
	if err := errors.Join(validContext(ctx), validSignal(name)); err != nil {
		return want, err
	}
	switch {
	case timeout < 0:
		return want, fmt.Errorf("%w: the timeout is %v; it must not be negative, and 0 is for ever", errInvalidSignal,
			timeout)
	case a.q.inWrite(ctx):
		return want, ErrNestedWrite
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for step := range a.underWay {
		return want, fmt.Errorf("step %s is under way, and would run again: await before or after it", step)
	}
	if a.awaits == nil {
		a.awaits = make(map[string]int)
	}
	return driver.Signal{JobID: a.job.ID, Name: name, Number: a.awaits[name] + 1}, nil
}

// answered returns what an earlier attempt was answered; those answers are read once.
func (a *Attempt) answered(ctx context.Context, want driver.Signal) (driver.Signal, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.readSignals(ctx); err != nil {
		return driver.Signal{}, err
	}
	for _, s := range a.signals {
		if s.Name == want.Name && s.Number == want.Number && !s.AwaitedAt.IsZero() {
			return s, nil
		}
	}
	return driver.Signal{}, nil
}

// readSignals reads what earlier attempts may have stored. The caller holds a.mu.
func (a *Attempt) readSignals(ctx context.Context) error {
	if a.signals != nil || a.job.Attempt == 1 {
		return nil
	}
	stored, err := a.q.driver.Signals(ctx, a.job.ID)
	if err == nil {
		a.signals = append([]driver.Signal{}, stored...) // not nil
	}
	return err
}

// awaitTx takes the signal, or ends the attempt in the same transaction: a signal is sent before, and is taken, or
// after, and finds that the job waits for it.
func (a *Attempt) awaitTx(
	ctx context.Context, tx *driver.WriteTx, want driver.Signal, timeout time.Duration,
) (answer driver.Signal, parked *parking, err error) {
	want.AwaitedAt = tx.Now()
	if a.job.StartedAt.After(want.AwaitedAt) { // the clock of the claim is ahead; by that the time may be over
		want.AwaitedAt = a.job.StartedAt
	}
	if timeout > 0 {
		want.Until = dbtime.Truncate(tx.Now().Add(timeout))
	}
	answer, err = a.q.driver.AwaitSignal(ctx, tx, a.job.lease(), want)
	if err != nil || !answer.AnsweredAt.IsZero() {
		return answer, nil, err
	}
	parked = parkingOf(a.job, answer, tx.Now())
	if err := a.q.finish(ctx, tx, *a.q.stored(&parked.out)); err != nil {
		return answer, nil, err
	}
	if err := a.q.recordEnd(ctx, tx, &parked.out, a); err != nil {
		return answer, nil, err
	}
	if err := a.q.addLogs(ctx, tx, a.logLines()); err != nil {
		return answer, nil, err
	}
	tx.OnCommit(func() {
		a.parked.Store(parked)
		a.completed.Store(true) // its end is written
	})
	return answer, parked, a.q.driver.Notify(ctx, tx)
}

func parkingOf(job *Job, s driver.Signal, now time.Time) *parking {
	p := &parking{out: driver.Outcome{Lease: job.lease(), State: StateQueued, Kind: KindWaiting, NotBefore: driver.Never,
		Error: "waits for the signal " + s.Name, At: now, LimitKey: job.LimitKey}}
	if !s.Until.IsZero() {
		p.out.NotBefore = s.Until
		p.out.Error += " until " + s.Until.Format(time.RFC3339)
	}
	// If a middleware runs the handler again, or the like, this is no failure either.
	p.err = &verdict{err: fmt.Errorf("%w: it %s", ErrWaiting, p.out.Error), spared: true}
	return p
}

// parkedEnd reports what a handler did after its attempt had ended to wait.
func (r *runner) parkedEnd(e *entry, err error) {
	job := e.attempt.job
	attrs := []any{logJobID, job.ID, logJobType, job.Type, logAttempt, job.Attempt}
	if errors.Is(err, ErrWaiting) {
		r.log.DebugContext(e.ctx, "job waits", append(attrs, "for", e.attempt.parked.Load().out.Error)...)
		return
	}
	r.log.WarnContext(e.ctx, "handler went on after Await had ended its attempt; it must return the error of Await",
		append(attrs, logError, err)...)
}
