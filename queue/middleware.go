package queue

import (
	"context"
	"fmt"
	"slices"
)

// A HandlerFunc runs an attempt, as [Handle] describes.
type HandlerFunc func(ctx context.Context, a *Attempt) error

// A Middleware wraps the handlers of a dispatcher. The function that it returns runs instead of next, and may call it. A panic of
// the handler passes through it, so that it may recover; a panic that it does not recover is a failure. Its error determines the
// outcome of the job. It is called once for each type, at registration.
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
