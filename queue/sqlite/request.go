package sqlite

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
)

// A request is one caller's function. The writer that begins it and the caller that gives up race for taken; the winner
// decides its fate. Jobs are taken when the functions of their group have ended: one of them may wait for the caller.
type request struct {
	arrived time.Time
	began   time.Time // its turn; set before it is the guard's
	taken   atomic.Bool
	turn    chan struct{} // closed when the caller may run its function, or, without a tx, when it is refused
	ran     chan struct{} // closed when the function has ended
	done    chan struct{} // closed when the fate of its writes is known
	tx      *driver.WriteTx
	jobs    []driver.InsertJob // to be inserted, in the place of a function
	err     error
}

// errAborted stands for a function that did not return. Nobody sees it: its goroutine is unwinding.
var errAborted = errors.New("sqlite: the function given to Write did not return")

type writeKey struct{}

func (w *writer) write(ctx context.Context, fn func(context.Context, *driver.WriteTx) error) error {
	if err := mayBegin(ctx); err != nil {
		return err
	}
	r := &request{arrived: time.Now(), turn: make(chan struct{}), ran: make(chan struct{}), done: make(chan struct{})}
	if err := w.await(ctx, r); err != nil {
		return err
	}
	if r.tx == nil {
		return advise(r.err, w.name)
	}
	r.call(context.WithValue(context.WithoutCancel(ctx), writeKey{}, true), w.nested, fn)
	if r.err == nil {
		r.tx.Committed()
	}
	return advise(r.err, w.name)
}

// mayBegin refuses a context under which no write can begin.
func mayBegin(ctx context.Context) error {
	switch {
	case ctx == nil:
		return driver.ErrNilContext
	case ctx.Value(writeKey{}) != nil:
		return driver.ErrNestedWrite
	}
	return nil
}

// await returns nil when it is the request's turn.
func (w *writer) await(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.nested.waiting.Add(1)
	defer w.nested.waiting.Add(-1)
	if err := w.lineUp(ctx, r); err != nil {
		return err
	}
	err := w.turn(ctx, r)
	if err == nil {
		return nil
	}
	if r.take() {
		return err
	}
	<-r.turn
	return nil
}

// take reports whether nobody has decided about the request before.
func (r *request) take() bool { return r.taken.CompareAndSwap(false, true) }

func (w *writer) lineUp(ctx context.Context, r *request) error {
	for {
		select {
		case w.requests <- r:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-w.quit:
			return ErrClosed
		case <-w.nested.watch():
			if err := w.waitsForItself(ctx, r); err != nil {
				return err
			}
		}
	}
}

// turn waits until it is the request's turn, or returns the reason for giving up.
func (w *writer) turn(ctx context.Context, r *request) error {
	for {
		select {
		case <-r.turn:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-w.stopped:
			return ErrClosed
		case <-w.nested.watch():
			if err := w.waitsForItself(ctx, r); err != nil {
				return err
			}
		}
	}
}

// waitsForItself returns an error when the request was made inside the write that it waits for, or may have been.
func (w *writer) waitsForItself(ctx context.Context, r *request) error {
	if w.inWrite(ctx) {
		return driver.ErrNestedWrite
	}
	if w.nested.lasts(nestedWriteTimeout) && time.Since(r.arrived) >= nestedWriteTimeout {
		return ErrWriteBlocked
	}
	return nil
}

// call returns when the writer has reported the result. If fn panics or calls runtime.Goexit, its writes are undone
// before the goroutine unwinds further.
func (r *request) call(ctx context.Context, l *nestedWriteGuard, fn func(context.Context, *driver.WriteTx) error) {
	r.err = errAborted
	defer func() {
		if r.err != nil {
			r.tx.RolledBack()
		}
		close(r.ran)
		<-r.done
	}()
	l.run(r, func() {
		err := fn(ctx, r.tx)
		if err == nil {
			err = r.tx.Ending(ctx)
		}
		r.err = err // now that neither has panicked
	})
}

func (w *writer) refuse(r *request, err error) {
	if r.take() {
		r.answer(err)
	}
}

func (r *request) answer(err error) {
	if r.err == nil {
		r.err = err
	}
	if r.tx == nil {
		close(r.turn)
	}
	if r.done != nil {
		close(r.done)
	}
}
