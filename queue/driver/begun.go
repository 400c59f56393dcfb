package driver

import (
	"context"
	"time"
)

type (
	endKey      struct{}
	deadlineKey struct{}
)

// Begun returns the context of a write that has begun under ctx. It has the values of ctx and is not canceled with ctx,
// so that the caller learns whether the write was committed. It ends only if the caller cannot wait any longer, such as
// a dispatcher that stops while the server does not answer: see [WithInterrupt]. A driver whose database can stop
// answering runs the statements of a transaction under it, and closes the connection when it ends.
func Begun(ctx context.Context) context.Context {
	if deadline, ok := ctx.Deadline(); ok {
		ctx = context.WithValue(ctx, deadlineKey{}, deadline)
	}
	end, ok := ctx.Value(endKey{}).(context.Context)
	if !ok {
		return context.WithoutCancel(ctx)
	}
	return begun{Context: end, values: ctx}
}

// Deadline returns until when the caller of a write is willing to wait: the deadline of ctx, or of the context that
// [Begun] was given.
func Deadline(ctx context.Context) (time.Time, bool) {
	if deadline, ok := ctx.Deadline(); ok {
		return deadline, true
	}
	deadline, ok := ctx.Value(deadlineKey{}).(time.Time)
	return deadline, ok
}

// WithInterrupt returns a copy of ctx that is canceled by interrupt. Calling interrupt also interrupts writes that have
// begun under it: whether they were committed is then unknown. Call interrupt when the context is no longer needed.
func WithInterrupt(ctx context.Context) (out context.Context, interrupt context.CancelFunc) {
	end, cancelEnd := context.WithCancel(endOf(ctx))
	out, cancel := context.WithCancel(context.WithValue(ctx, endKey{}, end))
	return out, func() {
		cancelEnd()
		cancel()
	}
}

// WithPatience is [WithInterrupt] with an interrupt after d at the latest.
func WithPatience(ctx context.Context, d time.Duration) (out context.Context, interrupt context.CancelFunc) {
	deadline := time.Now().Add(d)
	end, cancelEnd := context.WithDeadline(endOf(ctx), deadline)
	out, cancel := context.WithDeadline(context.WithValue(ctx, endKey{}, end), deadline)
	return out, func() {
		cancelEnd()
		cancel()
	}
}

// endOf returns a context without values that ends when writes that have begun under ctx are interrupted.
func endOf(ctx context.Context) context.Context {
	if end, ok := ctx.Value(endKey{}).(context.Context); ok {
		return end
	}
	return context.Background()
}

// A begun context ends with one context and has the values of another.
type begun struct {
	context.Context //nolint:containedctx // it is one

	values context.Context //nolint:containedctx // see above
}

// Value asks the ending context first, which has only the values that package context keeps there.
func (b begun) Value(key any) any {
	if v := b.Context.Value(key); v != nil {
		return v
	}
	return b.values.Value(key)
}
