package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/mattn/go-sqlite3"

	"github.com/postroom-go/postroom/queue"
)

const (
	// maxGroup bounds what one commit takes along, so that nobody waits long for the others.
	maxGroup = 512
	// writerPatience is how many milliseconds SQLite itself waits for a lock before the writer looks up again.
	writerPatience = 20
)

// The writer owns the one connection that writes. Callers hand it functions; it runs each in a savepoint of its own and
// commits what has come together meanwhile at once, so that the cost of a commit is shared.
type writer struct {
	pool        *sqlx.DB
	conn        *sqlx.Conn
	statements  *statements
	busyTimeout time.Duration

	requests chan *request
	quit     chan struct{}
	stopped  chan struct{}
	closing  sync.Once
}

// A request is one caller's function. Whoever wins the race for taken, the writer that begins it or the caller that
// gives up, decides what becomes of it.
type request struct {
	ctx   context.Context
	fn    func(context.Context, *queue.Tx) error
	taken atomic.Bool
	tx    *queue.Tx
	err   error
	panic any
	done  chan struct{}
}

type writeKey struct{}

func openWriter(ctx context.Context, dsn string, busyTimeout time.Duration) (*writer, error) {
	pool, err := sqlx.Open("sqlite3", dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	conn, err := connect(ctx, pool, busyTimeout)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	w := &writer{
		pool: pool, conn: conn, statements: newStatements(conn), busyTimeout: busyTimeout,
		requests: make(chan *request, maxGroup), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
	go w.loop()
	return w, nil
}

// connect tries again while another process changes the journal mode of a new file.
func connect(ctx context.Context, pool *sqlx.DB, patience time.Duration) (*sqlx.Conn, error) {
	for deadline := time.Now().Add(patience); ; {
		conn, err := pool.Connx(ctx)
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return conn, err
		}
	}
}

func (w *writer) close() error {
	w.closing.Do(func() { close(w.quit) })
	<-w.stopped
	return errors.Join(w.statements.close(), w.conn.Close(), w.pool.Close())
}

func (w *writer) write(ctx context.Context, fn func(context.Context, *queue.Tx) error) error {
	if ctx.Value(writeKey{}) != nil {
		return queue.ErrNestedWrite
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{ctx: ctx, fn: fn, done: make(chan struct{})}
	select {
	case w.requests <- r:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.quit:
		return ErrClosed
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-r.done
	case <-w.stopped:
		if r.taken.CompareAndSwap(false, true) {
			return ErrClosed
		}
		<-r.done
	}
	if r.panic != nil {
		panic(r.panic)
	}
	return r.err
}

func (w *writer) loop() {
	defer close(w.stopped)
	for {
		select {
		case <-w.quit:
			return
		case r := <-w.requests:
			w.group(r)
		}
	}
}

// group runs first and whatever else waits in one transaction, and answers them when it has committed.
func (w *writer) group(first *request) {
	if err := w.begin(); err != nil {
		w.refuse(first, fmt.Errorf("begin: %w", err))
		return
	}
	now := time.Now()
	var group []*request
	var broken error
	for r := first; r != nil && broken == nil; r = w.next(len(group)) {
		if r.taken.CompareAndSwap(false, true) {
			group = append(group, r)
			broken = w.run(r, now)
		}
	}
	err := broken
	if err == nil {
		err = w.commit()
	}
	if err != nil {
		// What the rollback says is of no use to anyone: the transaction is gone either way.
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	for _, r := range group {
		r.answer(err)
	}
}

func (w *writer) next(taken int) *request {
	if taken >= maxGroup {
		return nil
	}
	select {
	case r := <-w.requests:
		return r
	default:
		return nil
	}
}

func (w *writer) refuse(r *request, err error) {
	if r.taken.CompareAndSwap(false, true) {
		r.answer(err)
	}
}

func (r *request) answer(err error) {
	if r.err == nil {
		r.err = err
	}
	if r.err == nil && r.panic == nil {
		r.tx.Committed()
	}
	close(r.done)
}

// run gives the request's function its savepoint. It returns an error only when the whole transaction is beyond use.
func (w *writer) run(r *request, now time.Time) error {
	ctx := context.WithoutCancel(r.ctx)
	if _, err := w.statements.ExecContext(ctx, "SAVEPOINT one"); err != nil {
		return err
	}
	r.tx = queue.NewTx(w.statements, queue.SQLite, now)
	r.call(context.WithValue(ctx, writeKey{}, true))
	if r.err != nil || r.panic != nil {
		if _, err := w.statements.ExecContext(ctx, "ROLLBACK TO one"); err != nil {
			return fmt.Errorf("%w (rolling back after: %w)", err, r.err)
		}
	}
	_, err := w.statements.ExecContext(ctx, "RELEASE one")
	return err
}

// call runs fn on a goroutine of its own: a panic is kept for the caller, and a Goexit (a failed test assertion, say)
// ends that goroutine and not the writer.
func (r *request) call(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		returned := false
		defer func() {
			if r.panic = recover(); r.panic == nil && !returned {
				r.err = errors.New("sqlite: the function given to Write called runtime.Goexit")
			}
		}()
		r.err = r.fn(ctx, r.tx)
		returned = true
	}()
	<-ended
}

// begin takes the write lock, waiting for other processes at most as long as configured.
func (w *writer) begin() error { return w.insist("BEGIN IMMEDIATE") }

// commit can be busy only in memory, where readers hold writers up.
func (w *writer) commit() error { return w.insist("COMMIT") }

func (w *writer) insist(statement string) error {
	deadline := time.Now().Add(w.busyTimeout)
	for {
		_, err := w.statements.ExecContext(context.Background(), statement)
		if err == nil || !busy(err) || time.Now().After(deadline) {
			return err
		}
	}
}

func busy(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrBusy || e.Code == sqlite3.ErrLocked)
}
