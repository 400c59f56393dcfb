package queue

import (
	"context"
	"fmt"
	"slices"
)

// A HandlerFunc runs an attempt, as [Handle] describes.
type HandlerFunc func(ctx context.Context, a *Attempt) error

// A Middleware wraps the handlers of a dispatcher: what it returns runs instead of next, and calls it, or does not. A
// panic of the handler passes through it, so that it may recover; what it does not recover is a failure as ever. What it
// returns decides what becomes of the job. It is called once for each type, when that is registered.
type Middleware func(next HandlerFunc) HandlerFunc

// wrapHandler puts the first middleware outermost.
func wrapHandler(run HandlerFunc, all []Middleware) (HandlerFunc, error) {
	for i, middleware := range slices.Backward(all) {
		if middleware == nil {
			return nil, fmt.Errorf("DispatcherConfig.Middleware[%d] is nil", i)
		}
		if run = middleware(run); run == nil {
			return nil, fmt.Errorf("DispatcherConfig.Middleware[%d] returned nil", i)
		}
	}
	return run, nil
}
