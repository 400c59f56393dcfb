package queueadmin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// DeleteUserConfig configures [DeleteUser]. The zero DeleteUserConfig uses the defaults.
type DeleteUserConfig struct {
	// Batch is the number of jobs that one transaction deletes. Default 500; bounds 1 to 5,000.
	Batch int
	// Progress is called with what has been done so far, at least after each batch. Default nil: it is not called.
	Progress func(done DeletedUser)
}

// A DeletedUser counts what [DeleteUser] has done.
type DeletedUser struct {
	Schedules int // removed
	Canceled  int // jobs that were queued or running
	Jobs      int // removed, those that were canceled among them
}

// ErrBeingMoved reports that jobs or schedules of a user were left because a [Move] holds them.
var ErrBeingMoved = errors.New("a move to another database holds them")

const (
	// removePause is the least pause between two batches. It is at least as long as the batch took, so that a large
	// deletion leaves half of the time to other writes.
	removePause = 10 * time.Millisecond
	// maxDeadlocks is how often a transaction is tried that PostgreSQL gives up in favour of another.
	maxDeadlocks = 5
)

// DeleteUser removes all that the queue keeps about a user, which is the UserID of [queue.Options]: first the schedules
// whose jobs have it, so that they fire no more; then queued and running jobs are canceled, as by [queue.Queue.Cancel];
// then all jobs are deleted with their payloads, results, steps, attempts, logs and keys of every scope. It works in
// batches, with pauses for other writes, and may be called while dispatchers run. If it is interrupted, call it again.
//
// Let no program enqueue jobs of the user any more: DeleteUser returns when none is left, and does not find later ones.
// The context of a handler that runs is canceled, in another process with the next heartbeat; whatever the handler
// writes through its job is refused, and what it does elsewhere meanwhile is not undone. Keys of scope forever and
// period whose jobs were pruned before stay: they name no user.
//
// The error is [ErrBeingMoved] if a [Move] holds some of it: end the move, and call DeleteUser on both databases. The
// counts are right also with an error.
func DeleteUser(ctx context.Context, q *queue.Queue, userID string, cfg *DeleteUserConfig) (DeletedUser, error) {
	d, err := newDeleter(q, userID, cfg)
	if err != nil {
		return DeletedUser{}, wrap("delete user", "", err)
	}
	err = d.run(ctx)
	return d.done, failed(ctx, q, "delete user", err)
}

type deleter struct {
	q       *queue.Queue
	d       driver.Driver
	remover driver.Remover
	user    string
	cfg     DeleteUserConfig
	done    DeletedUser
}

func newDeleter(q *queue.Queue, userID string, cfg *DeleteUserConfig) (*deleter, error) {
	switch {
	case q == nil:
		return nil, errNoQueue
	case userID == "":
		return nil, errors.New("the user id is empty: jobs without a user belong to nobody")
	}
	d := &deleter{q: q, d: q.DB().Driver(), user: userID, cfg: DeleteUserConfig{Batch: 500}}
	var ok bool
	if d.remover, ok = driver.As[driver.Remover](d.d); !ok {
		return nil, fmt.Errorf("a %T does not implement driver.Remover", d.d)
	}
	if cfg == nil {
		return d, nil
	}
	d.cfg.Progress = cfg.Progress
	if cfg.Batch != 0 {
		d.cfg.Batch = cfg.Batch
	}
	if d.cfg.Batch < 1 || d.cfg.Batch > 5000 {
		return nil, fmt.Errorf("DeleteUserConfig.Batch is %d; it must be within 1 and 5000", d.cfg.Batch)
	}
	return d, nil
}

func (d *deleter) run(ctx context.Context) error {
	fault := d.removeSchedules(ctx)
	for again := false; ; {
		canceled, err := d.q.CancelAll(ctx, queue.Filter{UserID: d.user})
		if d.done.Canceled += canceled; err != nil {
			return err
		}
		removed, left, err := d.removeFinished(ctx)
		switch {
		case err != nil:
			return err
		case canceled > 0 || removed > 0:
			again = false // jobs may have been enqueued, or retried, meanwhile
		case left == 0:
			return fault
		case again:
			return errors.Join(fault, fmt.Errorf("%d jobs are left: %w", left, ErrBeingMoved))
		default:
			again = true // one may have been retried between its listing and its deletion
		}
	}
}

func (d *deleter) progress() {
	if d.cfg.Progress != nil {
		d.cfg.Progress(d.done)
	}
}

// removeFinished deletes the finished jobs of the user, newest first, and returns how many of them it could not delete.
func (d *deleter) removeFinished(ctx context.Context) (removed, left int, err error) {
	filter := driver.Filter{UserID: d.user, Limit: d.cfg.Batch,
		States: []driver.State{driver.StateCompleted, driver.StateFailed, driver.StateCanceled}}
	for {
		ids, err := d.d.JobIDs(ctx, filter)
		if err != nil || len(ids) == 0 {
			return removed, left, err
		}
		began, n := time.Now(), 0
		err = write(ctx, d.d, func(ctx context.Context, tx *driver.WriteTx) error {
			gone, err := d.remover.RemoveFinished(ctx, tx, driver.RemoveRequest{
				JobIDs: ids, States: filter.States, Keys: true,
			})
			n = len(gone)
			return err
		})
		if err != nil {
			return removed, left, err
		}
		removed, left = removed+n, left+len(ids)-n
		d.done.Jobs += n
		d.progress()
		// What was deleted still stands in the index on PostgreSQL: the next listing begins behind it.
		filter.Before = slices.Min(ids)
		if !sleep(ctx, max(removePause, time.Since(began))) {
			return removed, left, context.Cause(ctx)
		}
	}
}

// removeSchedules removes the schedules that enqueue jobs of the user.
func (d *deleter) removeSchedules(ctx context.Context) error {
	all, err := d.d.Schedules(ctx)
	if err != nil {
		return err
	}
	var faults []error
	for i := range all {
		if owner, err := userOf(&all[i]); err == nil && owner != d.user {
			continue
		}
		removed := false
		err := write(ctx, d.d, func(ctx context.Context, tx *driver.WriteTx) (err error) {
			removed, err = d.removeSchedule(ctx, tx, all[i].Name)
			return err
		})
		if err != nil && !errors.Is(err, driver.ErrScheduleNotFound) {
			faults = append(faults, fmt.Errorf("schedule %q: %w", all[i].Name, err))
		}
		if removed {
			d.done.Schedules++
			d.progress()
		}
	}
	return errors.Join(faults...)
}

// userOf returns the user of the jobs of a schedule.
func userOf(s *driver.Schedule) (string, error) {
	var options queue.Options
	if err := json.Unmarshal(s.Options, &options); err != nil { //nolint:musttag // as the queue stores them
		return "", fmt.Errorf("its options cannot be read, so its user is not known: %w", err)
	}
	return options.UserID, nil
}

// removeSchedule removes a schedule if its jobs are the user's when it is locked: it may have been set anew.
func (d *deleter) removeSchedule(ctx context.Context, tx *driver.WriteTx, name string) (removed bool, err error) {
	s, err := d.d.LockSchedule(ctx, tx, name)
	if err != nil {
		return false, err
	}
	owner, err := userOf(s)
	switch {
	case err != nil:
		return false, err
	case owner != d.user:
		return false, nil
	case strings.HasPrefix(s.Cron, frozen):
		return false, ErrBeingMoved
	}
	return true, d.d.DeleteSchedule(ctx, tx, name)
}
