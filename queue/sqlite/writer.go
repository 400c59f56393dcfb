package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

const (
	// maxGroup bounds the writes in one commit, so that nobody waits long for the others.
	maxGroup = 512
	// writerPragmas: pages that stay in memory (16 MB at most) are not read again for each batch. The log is copied
	// back by the checkpointer, not at the end of a commit.
	writerPragmas = "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA wal_autocheckpoint = 0"
	// writerPatience is how many milliseconds SQLite itself waits for a lock before the writer checks again.
	writerPatience = 20
)

// The writer owns the only connection that writes. Callers queue up. It gives each its turn, in a savepoint of its own,
// and commits the grouped writes at once, so that they share the cost of a commit. A caller's function runs on the
// caller's goroutine, so that a panic there keeps its stack. A caller that only inserts while nobody writes or waits
// does it itself: goroutines that wake each other cost as much as a fast disk. It waits for no function of another
// caller.
type writer struct {
	name        string // of the database, for people
	file        *file  // nil in memory
	lock        lock   // of conn
	conn        *connection
	statements  *statements
	busyTimeout time.Duration
	blocked     time.Time // since when another process has been seen holding the lock; zero when none does
	refused     time.Time // when a request was last refused for it

	requests chan *request
	handed   chan *request // by a caller that does its own insert, for the next group
	checks   chan struct{} // asks to check whether another process has committed
	version  int64         // as of the last check
	changed  func()        // called when one has
	now      func() time.Time
	written  chan struct{} // gets a token at each commit
	finishes chan struct{} // asks to copy the last few pages of the log back
	quit     chan struct{}
	stopped  chan struct{}
	close    func() error
	nested   *nestedWriteGuard
}

func openWriter(
	ctx context.Context, from connections, file *file, busyTimeout time.Duration, names *naming.Filler,
	now func() time.Time, changed func(),
) (*writer, error) {
	conn, err := from.writer(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, writerPragmas); err != nil {
		return nil, errors.Join(err, conn.release())
	}
	w := &writer{
		name: from.name(), file: file, lock: make(lock, 1), conn: conn, statements: newStatements(conn.Conn, names),
		busyTimeout: busyTimeout,
		requests:    make(chan *request, maxGroup), handed: make(chan *request, 1),
		checks: make(chan struct{}, 1), changed: changed,
		now: now, written: make(chan struct{}, 1), finishes: make(chan struct{}, 1), quit: make(chan struct{}),
		stopped: make(chan struct{}),
		nested:  newNestedWriteGuard(),
	}
	w.close = sync.OnceValue(w.shut)
	if err := errors.Join(w.statements.watch(), w.try()); err != nil {
		return nil, errors.Join(advise(err, "the queue writes"), w.statements.close(), conn.release())
	}
	if err := file.identify(); err != nil {
		return nil, errors.Join(err, w.statements.close(), conn.release())
	}
	go w.loop()
	return w, nil
}

// try checks whether the database can be written at all. SQLite silently opens a read-only file, on which even BEGIN
// IMMEDIATE succeeds: only a write shows it.
func (w *writer) try() error {
	err := w.exec("BEGIN IMMEDIATE")
	if busy(err) {
		return nil // another process writes it
	}
	if err != nil {
		return err
	}
	return errors.Join(w.exec("PRAGMA user_version = 1"), w.exec("ROLLBACK"))
}

func (w *writer) shut() error {
	close(w.quit)
	<-w.stopped
	w.lock.take()
	defer w.lock.release()
	return errors.Join(w.statements.close(), w.conn.release())
}

func (w *writer) loop() {
	defer close(w.stopped)
	for {
		select {
		case <-w.quit:
			return
		case <-w.checks:
			w.alone(w.checkVersion)
		case <-w.finishes:
			w.alone(w.finishCheckpoint)
		case r := <-w.handed:
			w.serve(r)
		case r := <-w.requests:
			w.serve(r)
		}
	}
}

// serve begins a group with the request.
func (w *writer) serve(r *request) {
	if w.closing() {
		return
	}
	w.alone(func() { w.group(r) })
	// Or the writer and one caller would hand a processor to each other for as long as the scheduler lets them, 10 ms,
	// while the others stand in its line and not in ours.
	runtime.Gosched()
}

func (w *writer) alone(fn func()) {
	w.lock.take()
	defer w.lock.release()
	fn()
}

// A lock is a mutex for which the clock of testing/synctest does not wait. The holder waits for functions of callers.
type lock chan struct{}

func (l lock) take() { l <- struct{}{} }

func (l lock) tryTake() bool {
	select {
	case l <- struct{}{}:
		return true
	default:
		return false
	}
}

func (l lock) release() { <-l }

// askToCheck never blocks; several that come together are one.
func (w *writer) askToCheck() { tell(w.checks) }

// askToFinish never blocks, either.
func (w *writer) askToFinish() { tell(w.finishes) }

func tell(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// finishCheckpoint copies the few pages that the checkpointer has left in the log, while nobody adds to it: the next
// commit restarts the log. If another process has made it long again, the checkpointer copies it.
func (w *writer) finishCheckpoint() {
	ctx := context.Background()
	frames, left, err := walCheckpoint(ctx, w.statements, "NOOP")
	if err != nil || left > littleOf(frames) {
		return
	}
	if _, err := w.conn.ExecContext(ctx, w.file.limitLog()); err == nil {
		_, _, _ = walCheckpoint(ctx, w.statements, "PASSIVE") // the next check of the log finds an error as well
	}
}

// checkVersion reads data_version, which changes with every commit but those of the connection that reads it: the
// writer's own.
func (w *writer) checkVersion() {
	var version int64
	// An error shows at the next write; polling is the net.
	if w.statements.QueryRowContext(context.Background(), "PRAGMA data_version").Scan(&version) != nil ||
		version == w.version {
		return
	}
	w.version = version
	w.changed()
}

func (w *writer) closing() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// group gives the first request and the waiting ones their turns in one transaction, and answers them when it has
// committed.
func (w *writer) group(first *request) {
	err := w.file.check(w.statements)
	if err == nil {
		err = w.begin(first)
	}
	if err != nil {
		w.refuse(first, fmt.Errorf("sqlite: begin: %w", err))
		return
	}
	w.end(w.runAll(first))
}

// runAll gives the first request and the waiting ones their turns, up to those that only insert.
func (w *writer) runAll(first *request) (ran, inserts []*request, err error) {
	for r := first; r != nil; r = w.next(len(ran) + len(inserts)) {
		if r.jobs != nil {
			inserts = append(inserts, r)
			continue
		}
		if !r.take() {
			continue
		}
		ran = append(ran, r)
		if err := w.run(r, len(ran)+len(inserts) > 1); err != nil {
			return ran, inserts, err // before the next is taken: nobody would answer it
		}
	}
	return ran, inserts, nil
}

// end inserts for the requests that still wait, commits, and answers all. err is why the transaction cannot be
// committed.
func (w *writer) end(ran, inserts []*request, err error) {
	inserts = slices.DeleteFunc(inserts, func(r *request) bool { return !r.take() })
	group := slices.Concat(ran, inserts)
	if err == nil {
		err = w.insertAll(inserts, len(ran) > 0)
	}
	wake := len(inserts) > 0 || err == nil && w.opened()
	if err == nil {
		err = w.commit()
	}
	if err == nil && wake {
		w.changed()
	}
	if err != nil {
		err = fmt.Errorf("sqlite: transaction: %w", err)
		for _, r := range ran {
			if r.tx != nil {
				r.tx.RolledBack()
			}
		}
		// What the rollback says is of no use to anyone: the transaction is gone either way.
		_, _ = w.conn.ExecContext(context.Background(), "ROLLBACK")
	}
	for _, r := range group {
		r.answer(err)
	}
}

// opened reports whether what has ended in the transaction may let other jobs start.
func (w *writer) opened() bool {
	if !w.statements.ended.Load() {
		return false
	}
	opened, err := mayOpen(context.Background(), w.statements)
	return opened || err != nil // who is woken for nothing finds nothing
}

func (w *writer) next(taken int) *request {
	if taken >= maxGroup || w.closing() {
		return nil
	}
	select {
	case r := <-w.requests:
		return r
	default:
		return nil
	}
}

// run gives the request its turn, and those behind others a savepoint, for which SQLite copies each page that changes.
// It returns an error only when the whole transaction is beyond use, as it is when the only request that has written
// fails.
func (w *writer) run(r *request, behind bool) error {
	if behind {
		if err := w.exec("SAVEPOINT postroom_write"); err != nil {
			return err
		}
	}
	conn := newCallerTx(w.statements)
	r.tx = driver.NewWriteTx(conn, driver.SQLite, w.now())
	close(r.turn)
	<-r.ran
	gone, failed := conn.end()
	if failed != nil && r.err == nil {
		r.err = failed
		r.tx.RolledBack()
	}
	switch {
	case gone:
		return errors.Join(errGone, forOthers(r.err))
	case !behind:
		return r.err
	case r.err != nil:
		if err := w.exec("ROLLBACK TO postroom_write"); err != nil {
			return fmt.Errorf("%w (rolling back after: %w)", err, forOthers(r.err))
		}
	}
	return w.exec("RELEASE postroom_write")
}

// forOthers converts an error for other callers of the transaction that it has broken. Only its own caller may get a
// hint such as a lost lease or a permanent failure.
func forOthers(err error) error {
	if err == nil {
		return nil
	}
	if _, e := libsqlite.ErrorOf(err); e != nil {
		return e
	}
	return errors.New(err.Error())
}

// begin takes the write lock. Each request waits for another process at most as long as configured, however many others
// wait with it.
func (w *writer) begin(r *request) error {
	if r.arrived.After(w.refused) { // nobody has looked since
		w.blocked = time.Time{}
	}
	for {
		err := w.beginOnce()
		if !busy(err) {
			return err
		}
		now := time.Now()
		if w.blocked.IsZero() {
			w.blocked = now
		}
		if since := later(w.blocked, r.arrived); now.Sub(since) >= w.busyTimeout {
			w.refused = now
			return fmt.Errorf(
				"%w: another process, such as a backup, or a transaction that this program has begun, has held the lock for %v; "+
					"try again when it has ended (code within such a transaction uses the calls that take it, such as EnqueueTx)",
				err, now.Sub(w.blocked).Round(time.Millisecond))
		}
	}
}

func (w *writer) beginOnce() error {
	w.statements.rolledBack.Store(false)
	w.statements.ended.Store(false)
	err := w.exec("BEGIN IMMEDIATE")
	if !busy(err) {
		w.blocked = time.Time{}
	}
	return err
}

// commit can be busy only in memory, where readers block writers. Commits to a file that no longer exists are lost, and
// their callers get an error.
func (w *writer) commit() error {
	for deadline := time.Now().Add(w.busyTimeout); ; {
		err := w.exec("COMMIT")
		if err == nil {
			tell(w.written)
			return w.file.check(w.statements)
		}
		if !busy(err) || time.Now().After(deadline) {
			return err
		}
	}
}

func (w *writer) exec(statement string) error {
	_, err := w.statements.ExecContext(context.Background(), statement)
	return err
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func busy(err error) bool {
	code, _ := libsqlite.ErrorOf(err)
	return code.Primary() == libsqlite.Busy || code.Primary() == libsqlite.Locked
}
