package sqlite

import (
	"context"
	"errors"
	"time"
)

const (
	// checkpointFrames is the number of pages in the log at which they are copied back: 16 MB. A smaller number would
	// copy pages that are written often many times; a larger one makes the log larger and a checkpoint no cheaper.
	checkpointFrames = 4000
	// checkpointPause is the delay after a commit before the checkpointer checks the log. A busy writer takes far
	// longer to fill it.
	checkpointPause = 5 * time.Millisecond
	// checkpointRounds bounds how often pages that were written during a checkpoint are copied back before the writer
	// waits for the rest.
	checkpointRounds = 4
)

// The checkpointer copies the log back into the file on its own connection, concurrently with the writer. SQLite would
// do it at the end of the commit that fills the log: that commit, and all waiting writes, would take the 30 ms of
// copying 16 MB, or 12 s after a reader that has kept a log of 2 GB from being copied. The writer itself copies only
// the last few pages, so that it can restart the log.
type checkpointer struct {
	conn    *connection
	written chan struct{} // something has been committed
	finish  func()        // asks the writer to copy the rest

	cancel  context.CancelFunc
	stopped chan struct{}
}

func startCheckpointer(conn *connection, w *writer) *checkpointer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &checkpointer{conn: conn, written: w.written, finish: w.askToFinish, cancel: cancel,
		stopped: make(chan struct{})}
	go c.run(ctx)
	return c
}

func (c *checkpointer) close() error {
	c.cancel()
	<-c.stopped
	return c.conn.release()
}

func (c *checkpointer) run(ctx context.Context) {
	defer close(c.stopped)
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.written:
		}
		pause.Reset(checkpointPause)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		// An error, for example of a full disk, leaves the log unchanged: the next commit retries.
		_ = c.checkpoint(ctx)
	}
}

// checkpoint copies the log back if it is long, and lets the writer copy the rest once that is short. Pages that a
// reader needs stay in the log.
func (c *checkpointer) checkpoint(ctx context.Context) error {
	frames, left, err := walCheckpoint(ctx, c.conn, "NOOP")
	if err != nil || frames < checkpointFrames {
		return err
	}
	for round := 0; left > 0 && round < checkpointRounds; round++ {
		copied := frames - left
		if _, _, err := walCheckpoint(ctx, c.conn, "PASSIVE"); err != nil {
			return err
		}
		if frames, left, err = walCheckpoint(ctx, c.conn, "NOOP"); err != nil || frames-left <= copied {
			return err
		}
	}
	if frames >= checkpointFrames && left <= littleOf(frames) {
		c.finish()
	}
	return nil
}

// littleOf returns the number of pages of a log that the writer may copy in its turn: a few pages, within a millisecond
// or two. If the log keeps growing, the share of a very long log bounds its size.
func littleOf(frames int) int { return max(checkpointFrames/8, frames/16) }

var errCheckpoint = errors.New("sqlite: the log was not checked: another checkpoint is under way")

// walCheckpoint runs a checkpoint and returns the number of pages in the log, and of those not copied back. The mode
// NOOP copies none.
func walCheckpoint(ctx context.Context, q queryer, mode string) (frames, left int, err error) {
	var busy, copied int
	if err := q.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &copied); err != nil {
		return 0, 0, err
	}
	if frames < 0 {
		return 0, 0, errCheckpoint
	}
	return frames, frames - copied, nil
}
