package sqlite

import (
	"context"
	"errors"
	"time"
)

const (
	// checkpointFrames is how many pages the log has when they are copied back: 16 MB. Fewer would copy back many times what
	// is written many times; more make the log larger and a checkpoint no cheaper.
	checkpointFrames = 4000
	// checkpointPause is how long after a commit the checkpointer looks at the log. It is far below the time in which a busy
	// writer fills it.
	checkpointPause = 5 * time.Millisecond
	// checkpointRounds bounds how often what has been written during a checkpoint is copied back before the writer waits for
	// the rest.
	checkpointRounds = 4
)

// The checkpointer copies the log back into the file, on a connection of its own and beside the writer. SQLite would do it
// at the end of the commit that fills the log: that commit, and all who wait for their turn, would take the 30 ms that the
// copying of 16 MB takes, or 12 s after a reader that has kept a log of 2 GB from being copied. The writer itself copies only
// the last few pages, so that it may begin the log anew.
type checkpointer struct {
	conn    *connection
	written chan struct{} // something has been committed
	finish  func()        // asks the writer to copy the rest

	cancel  context.CancelFunc
	stopped chan struct{}
}

func startCheckpointer(conn *connection, w *writer) *checkpointer {
	ctx, cancel := context.WithCancel(context.Background())
	c := &checkpointer{conn: conn, written: w.written, finish: w.askToFinish, cancel: cancel, stopped: make(chan struct{})}
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
		// An error, as of a disk that is full, leaves the log as it is: the next commit has it tried again.
		_ = c.checkpoint(ctx)
	}
}

// checkpoint copies the log back if it is long, and has the writer copy the rest once that is short. What a reader needs is
// left as it is.
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

// littleOf is how much of a log of so many pages the writer may copy in its turn: a few pages, within a millisecond or two.
// Where the log becomes longer all the time, the part of a very long one keeps it from growing without bound.
func littleOf(frames int) int { return max(checkpointFrames/8, frames/16) }

var errCheckpoint = errors.New("sqlite: the log was not looked at: another checkpoint is under way")

// walCheckpoint runs a checkpoint and returns how many pages the log has, and how many of them have not been copied back.
// The mode NOOP copies none.
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
