package chunk

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue"
)

// Config says what a chunk is. The zero Config uses the defaults.
type Config struct {
	// Size is the maximum number of jobs. Default 100; bounds 1 to 10,000.
	Size int
	// Wait is how long the first job of a chunk waits for others. Default 100 ms; at most 1 min.
	Wait time.Duration
	// Key puts only jobs with the same key into a chunk, such as those of one account. Default: all jobs of the type.
	// It must be safe for concurrent use.
	Key func(job *queue.Job) string
}

func (c Config) withDefaults() (Config, error) {
	if c.Size == 0 {
		c.Size = 100
	}
	if c.Wait == 0 {
		c.Wait = 100 * time.Millisecond
	}
	switch {
	case c.Size < 1 || c.Size > 10_000:
		return c, fmt.Errorf("chunk: Config.Size is %d; it must be within 1 and 10,000", c.Size)
	case c.Wait < 0 || c.Wait > time.Minute:
		return c, fmt.Errorf("chunk: Config.Wait is %v; it must be within 0 and 1m", c.Wait)
	}
	return c, nil
}

// Errors are the ends of the jobs of a chunk, each at its job's place: nil completes it, and an error means what it
// means to [queue.Handle]. There are as many as jobs.
type Errors []error

// Error joins the texts of the errors.
func (e Errors) Error() string {
	if err := errors.Join(e...); err != nil {
		return err.Error()
	}
	return "chunk: no errors"
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error { return e }

// Handle registers fn as the handler of a type, for chunks of its jobs. The error is of the Config; what is wrong with
// the registration is an error that the dispatcher's Run returns, as with [queue.Handle].
//
// fn is given the jobs in the order in which they came. Its error is the end of all of them, as that of a handler is of
// one, unless it is [Errors], which has one for each. A panic is a failure of all. fn sets their results with
// SetResult.
//
// Its context is canceled when those of all its jobs are, with the cause of the last; its values are those of the first
// job. A job that is canceled while it waits leaves its chunk.
func Handle[P any](
	d *queue.Dispatcher, t queue.Type[P], cfg Config, fn func(ctx context.Context, works []*queue.Work[P]) error,
	opts ...queue.HandlerOption,
) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	if fn == nil {
		return errors.New("chunk: the function is nil")
	}
	c := &collector[P]{cfg: cfg, fn: fn, open: make(map[string]*chunk[P])}
	queue.Handle(d, t, c.handle, opts...)
	return nil
}

// A collector has the chunks that are not full, by their keys.
type collector[P any] struct {
	cfg Config
	fn  func(ctx context.Context, works []*queue.Work[P]) error

	mu   sync.Mutex
	open map[string]*chunk[P]
}

// A chunk is some jobs that run together.
type chunk[P any] struct {
	key     string
	members []*member[P]
	timer   *time.Timer
}

type member[P any] struct {
	ctx  context.Context //nolint:containedctx // the handler's, which waits for its end
	work *queue.Work[P]
	end  chan error // buffered
}

// handle is the handler of one job: it waits for the end of its chunk.
func (c *collector[P]) handle(ctx context.Context, w *queue.Work[P]) error {
	m := &member[P]{ctx: ctx, work: w, end: make(chan error, 1)}
	in := c.join(m)
	select {
	case err := <-m.end:
		return err
	case <-ctx.Done():
	}
	if c.leave(in, m) {
		return context.Cause(ctx)
	}
	return <-m.end
}

// join adds the job to the open chunk of its key, and runs that if it is full.
func (c *collector[P]) join(m *member[P]) *chunk[P] {
	key := ""
	if c.cfg.Key != nil {
		key = c.cfg.Key(&m.work.Job)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.open[key]
	if in == nil {
		in = &chunk[P]{key: key}
		in.timer = time.AfterFunc(c.cfg.Wait, func() { c.close(in) })
		c.open[key] = in
	}
	if in.members = append(in.members, m); len(in.members) == c.cfg.Size {
		c.shut(in)
		go c.run(in)
	}
	return in
}

// leave takes a job out of a chunk that does not run yet.
func (c *collector[P]) leave(in *chunk[P], m *member[P]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[in.key] != in {
		return false
	}
	if in.members = slices.DeleteFunc(in.members, func(one *member[P]) bool { return one == m }); len(in.members) == 0 {
		c.shut(in)
	}
	return true
}

// close runs a chunk whose time has come.
func (c *collector[P]) close(in *chunk[P]) {
	c.mu.Lock()
	open := c.open[in.key] == in
	if open {
		c.shut(in)
	}
	c.mu.Unlock()
	if open {
		c.run(in)
	}
}

// shut lets no more jobs into the chunk.
func (c *collector[P]) shut(in *chunk[P]) {
	in.timer.Stop()
	delete(c.open, in.key)
}

func (c *collector[P]) run(in *chunk[P]) {
	err := error(&queue.PanicError{Stack: "runtime.Goexit"})
	defer func() {
		if v := recover(); v != nil {
			err = &queue.PanicError{Value: v, Stack: string(debug.Stack())}
		}
		ends := endsOf(err, len(in.members))
		for i, m := range in.members {
			m.end <- ends[i]
		}
	}()
	ctx, release := in.context()
	defer release()
	works := make([]*queue.Work[P], len(in.members))
	for i, m := range in.members {
		works[i] = m.work
	}
	err = c.fn(ctx, works)
}

// endsOf returns the end of each of n jobs.
func endsOf(err error, n int) []error {
	if each, ok := errors.AsType[Errors](err); ok {
		if len(each) == n {
			return each
		}
		err = fmt.Errorf("chunk: Errors has %d errors for %d jobs: %w", len(each), n, err)
	}
	return slices.Repeat([]error{err}, n)
}

// context returns the context of the chunk, and a function that releases it.
func (in *chunk[P]) context() (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(in.members[0].ctx))
	var mu sync.Mutex
	left := len(in.members)
	stops := make([]func() bool, left)
	for i, m := range in.members {
		stops[i] = context.AfterFunc(m.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if left--; left == 0 {
				cancel(context.Cause(m.ctx))
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}
