package queue

import (
	"fmt"
	"time"
)

// A HandlerOption changes how [Handle] runs the jobs of one type. A value out of bounds is an error that Run returns.
// The zero HandlerOption changes nothing.
type HandlerOption struct {
	apply func(h *handler) error
}

// WithTimeout bounds how long one attempt may take. The handler's context then has a deadline, and is canceled at it with the
// cause [ErrTimeout]. An error that the handler returns after that is a failure whose text says how long it ran. A handler that
// still succeeds has succeeded. At least 1 ms; without the option there is no bound.
func WithTimeout(timeout time.Duration) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if timeout < time.Millisecond {
			return fmt.Errorf("WithTimeout is %v; it must be at least 1ms", timeout)
		}
		h.timeout = timeout
		return nil
	}}
}

// WithRetry is how long failed jobs of the type wait for their next attempt, such as [SlowRetry], instead of
// [Config].Retry.
func WithRetry(policy RetryPolicy) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if err := policy.validate(); err != nil {
			return fmt.Errorf("WithRetry: %w", err)
		}
		h.retry = policy
		return nil
	}}
}

// WithConcurrency bounds how many handlers of the type run at once in this process, leaving the other slots to other
// types. At least 1; without the option, [DispatcherConfig].Workers is the bound.
func WithConcurrency(n int) HandlerOption {
	return HandlerOption{func(h *handler) error {
		if n < 1 {
			return fmt.Errorf("WithConcurrency is %d; it must be at least 1", n)
		}
		h.concurrency = n
		return nil
	}}
}

// WithSteps names all the steps of the handler, so that queueadmin.CheckProgram finds stored steps that it lacks: after a rename,
// a step would run again.
func WithSteps(names ...string) HandlerOption {
	return HandlerOption{func(h *handler) error {
		h.steps = names
		return nil
	}}
}
