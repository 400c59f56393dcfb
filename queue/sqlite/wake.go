package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/postroom-go/postroom/queue/driver"
)

// wakers are the listeners of this process. The watch wakes them for other processes, too.
type wakers struct {
	mu    sync.Mutex
	next  int
	funcs map[int]func()
}

// Notify implements [driver.Notifier].
func (db *engine) Notify(_ context.Context, tx *driver.WriteTx) error {
	tx.OnCommit(db.wakers.wake)
	return nil
}

// Listen implements [driver.Notifier].
func (db *engine) Listen(ctx context.Context, wake func()) error {
	remove := db.wakers.add(wake)
	defer remove()
	wake()
	if db.watched {
		// If the system has no more watches, polling finds the jobs of other processes.
		_ = db.watch(ctx)
	}
	<-ctx.Done()
	return nil
}

func (w *wakers) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fn := range w.funcs {
		fn()
	}
}

func (w *wakers) add(fn func()) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.funcs == nil {
		w.funcs = make(map[int]func())
	}
	w.next++
	id := w.next
	w.funcs[id] = fn
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.funcs, id)
	}
}

const (
	// breath is how long the watch waits after a change before it checks: changes in the meantime count as one.
	breath = 2 * time.Millisecond
	// A commit shows only after the disk has taken the log, so that one check is not enough: the watch checks again
	// after twice the time, up to this.
	longestCommit = 500 * time.Millisecond
)

// watch makes the writer check when any process has changed the write-ahead log. An idle watch costs nothing.
func (db *engine) watch(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer func() { _ = watcher.Close() }() // there is nothing to be done about it
	// It is there as long as a connection is open.
	if err := watcher.Add(db.file.log); err != nil {
		return err
	}
	delay := breath // what was written before the watch began went unseen
	again := time.NewTimer(delay)
	defer again.Stop()
	for {
		var events <-chan fsnotify.Event
		if delay > breath {
			events = watcher.Events
		}
		select {
		case <-ctx.Done():
			return nil
		case <-events:
			delay = breath
			again.Reset(delay)
		case <-watcher.Errors: //nolint:errcheck // whichever it is, something was missed
			delay = breath
			again.Reset(delay)
		case <-again.C:
			db.writer.askToCheck()
			if delay *= 2; delay <= longestCommit {
				again.Reset(delay)
			}
		}
	}
}
