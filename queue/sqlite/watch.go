package sqlite

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// breath is how long the watch waits after a change before it checks: changes in the meantime count as one.
	breath = 2 * time.Millisecond
	// A commit shows only after the disk has taken the log, so that one check is not enough: the watch checks again after
	// twice the time, up to this.
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
