package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// A StuckHandler is one that has not returned although its context was canceled.
type StuckHandler struct {
	Job Job
	// Cause is the cause of its context: [ErrTimeout], [ErrCanceled], [ErrLeaseLost] or [ErrShutdown].
	Cause error
	// Since is when the context was canceled.
	Since time.Time
	// Stack is the current stack of its goroutine; empty if it could not be determined.
	Stack string
}

// errStuck is the result of a handler that was given up.
var errStuck = errors.New("it has not returned")

// The watchdog gives up handlers that ignore their contexts: the ends of their attempts are written as if they had returned, and
// others take their slots. At a shutdown the drain does so.
type watchdog struct {
	runner *runner
	grace  time.Duration
}

func (w *watchdog) run(ctx context.Context) {
	ticker := time.NewTicker(w.grace / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.runner.giveUp(ctx, func(e *entry) bool { return e.overdue(w.grace) })
		}
	}
}

// overdue reports whether the handler still runs that long after its context was canceled.
func (e *entry) overdue(grace time.Duration) bool {
	cause := context.Cause(e.ctx)
	return cause != nil && !errors.Is(cause, ErrShutdown) && time.Since(e.canceledAt()) >= grace
}

func (e *entry) canceledAt() time.Time {
	if errors.Is(context.Cause(e.ctx), ErrTimeout) {
		return e.deadline
	}
	return e.stopped
}

// giveUp ends the attempts of those handlers that are within and match.
func (r *runner) giveUp(ctx context.Context, match func(e *entry) bool) {
	stuck, goroutines := r.running.giveUp(match)
	for range goroutines {
		go r.work()
	}
	if len(stuck) == 0 {
		return
	}
	stacks := stacksOf(stuck)
	for _, e := range stuck {
		a := e.attempt
		if a.completed.Load() {
			r.running.forget(a)
		} else {
			outcome := r.outcome(e, errStuck)
			outcome.Stack = storable(stacks[e])
			r.completer.add(newEnding(a, outcome))
		}
		r.tellStuck(ctx, StuckHandler{Job: *a.job, Cause: context.Cause(e.ctx), Since: e.canceledAt(), Stack: stacks[e]})
	}
}

func (r *runner) tellStuck(ctx context.Context, h StuckHandler) {
	if r.onStuck == nil {
		r.log.ErrorContext(ctx, "handler does not return although its context was canceled; it is given up",
			logJobID, h.Job.ID, logJobType, h.Job.Type, logAttempt, h.Job.Attempt,
			"cause", h.Cause, "since", h.Since, "stack", h.Stack)
		return
	}
	defer func() {
		if v := recover(); v != nil {
			r.log.ErrorContext(ctx, "DispatcherConfig.OnStuck panicked", logError, v, "stack", string(debug.Stack()))
		}
	}()
	r.onStuck(ctx, h)
}

// leaked returns the error that names the handlers that still run after the dispatcher has stopped.
func (r *runner) leaked() error {
	if names := r.running.stuckJobs(); len(names) > 0 {
		return fmt.Errorf("queue: handlers did not return after their contexts were canceled: %s", names)
	}
	return nil
}

// goroutineID reads the number that the runtime gives the caller's goroutine, by which its stack is found among all.
func goroutineID() uint64 {
	var buf [64]byte
	return parseGoroutineID(buf[:runtime.Stack(buf[:], false)])
}

// parseGoroutineID reads "goroutine 17 [running]:"; 0 when the runtime writes it another way.
func parseGoroutineID(stack []byte) uint64 {
	number, _, _ := bytes.Cut(bytes.TrimPrefix(stack, []byte("goroutine ")), []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// maxStacks bounds the text of all goroutines' stacks, which is searched for those of stuck handlers.
const maxStacks = 64 << 20

func stacksOf(stuck []*entry) map[*entry]string {
	buf := make([]byte, 1<<20)
	n := runtime.Stack(buf, true)
	for n == len(buf) && n < maxStacks {
		buf = make([]byte, 2*len(buf))
		n = runtime.Stack(buf, true)
	}
	byID := make(map[uint64][]byte)
	for stack := range bytes.SplitSeq(buf[:n], []byte("\n\n")) {
		byID[parseGoroutineID(stack)] = stack
	}
	delete(byID, 0)
	stacks := make(map[*entry]string, len(stuck))
	for _, e := range stuck {
		stacks[e] = string(byID[e.goroutine])
	}
	return stacks
}
