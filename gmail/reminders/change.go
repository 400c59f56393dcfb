package reminders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
)

// The limits of a reminder, in characters, and of a user.
const (
	maxTitle = 200
	maxBody  = 2000
	maxOpen  = 500
	// maxAhead is the longest time until a reminder that comes once.
	maxAhead = 10 * 365 * 24 * time.Hour
)

// ParseTime reads a time as people write it: "tomorrow", a weekday, "friday 9:30", "in 3 hours", and what else
// [postroom.SnoozeUntil] reads as when, in the time zone of now; or a time such as 2027-01-31T08:00:00+01:00.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); err == nil {
		return at, nil
	}
	at, err := postroom.SnoozeUntil(postroom.Parameters{"when": text}, now)
	if err != nil {
		return at, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return at, nil
}

// A NewReminder is what [Store.Add] makes a reminder of.
type NewReminder struct {
	// UserID is whose it is. Required; at most 200 bytes.
	UserID string
	// Title is what the user is told, on one line. Required; at most 200 characters.
	Title string
	// Body says more. At most 2000 characters. Default empty.
	Body string
	// At is when it comes, once: after now, and within 10 years. Give this or Cron.
	At time.Time
	// Cron is when it comes again and again, see [queue.Schedule]. Give this or At.
	Cron string
	// Zone is the time zone of Cron, such as "Europe/Berlin". Default "UTC".
	Zone string
}

// check returns what is wrong with the values; the queue judges the cron expression and its zone.
func (n *NewReminder) check(now time.Time) error {
	invalid := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
	}
	switch {
	case n.UserID == "":
		return invalid("it has no user")
	case n.Title == "" || strings.ContainsAny(n.Title, "\r\n"):
		return invalid("the title is %q; write one line", n.Title)
	case utf8.RuneCountInString(n.Title) > maxTitle:
		return invalid("the title is longer than %d characters", maxTitle)
	case utf8.RuneCountInString(n.Body) > maxBody:
		return invalid("the body is longer than %d characters", maxBody)
	case n.At.IsZero() == (n.Cron == ""):
		return invalid("give either a time or a cron expression")
	case n.Cron == "":
		return checkTime(n.At, now)
	}
	return nil
}

func checkTime(at, now time.Time) error {
	switch {
	case !at.After(now):
		return fmt.Errorf("%w: %s is not in the future", ErrInvalid, at.Format(time.RFC3339))
	case at.After(now.Add(maxAhead)):
		return fmt.Errorf("%w: %s is more than 10 years ahead", ErrInvalid, at.Format(time.RFC3339))
	}
	return nil
}

// Add makes a reminder in the caller's transaction. The error is [ErrInvalid] or [ErrTooMany] if the values or the
// number of open reminders forbid it, and nothing is written then.
func (s *Store) Add(ctx context.Context, tx queue.Tx, n NewReminder) (Reminder, error) {
	n.Title, n.Body = strings.TrimSpace(n.Title), strings.TrimSpace(n.Body)
	if err := n.check(queue.Now(tx)); err != nil {
		return Reminder{}, fmt.Errorf("reminders: add: %w", err)
	}
	if err := checkRoom(ctx, tx, n.UserID); err != nil {
		return Reminder{}, fmt.Errorf("reminders: add: %w", err)
	}
	id, err := uuid7.New()
	if err != nil {
		return Reminder{}, fmt.Errorf("reminders: add: %w", err)
	}
	r := row{ID: id, UserID: n.UserID, Title: n.Title, Body: n.Body, Cron: n.Cron, State: Scheduled,
		CreatedAt: dbtime.Of(queue.Now(tx))}
	if n.Cron == "" {
		r.DueAt = dbtime.Of(dbtime.Truncate(n.At))
		r.JobID, err = s.enqueue(ctx, tx, &r)
	} else {
		r.Zone, err = zoneOrUTC(n.Zone), s.setSchedule(ctx, tx, &r, zoneOrUTC(n.Zone))
	}
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlInsert, r.ID, r.UserID, r.Title, r.Body, r.Cron, r.Zone, r.DueAt, r.JobID,
			r.CreatedAt)
	}
	if err != nil {
		return Reminder{}, fmt.Errorf("reminders: add: %w", err)
	}
	return r.reminder(time.Time{}), nil
}

// checkRoom returns [ErrTooMany] if as many reminders are to come to a user as may.
func checkRoom(ctx context.Context, tx queue.Tx, userID string) error {
	var open int
	err := dbquery.Get(ctx, tx, &open, sqlCountOpen, userID)
	if err == nil && open >= maxOpen {
		err = ErrTooMany
	}
	return err
}

func zoneOrUTC(zone string) string {
	if zone == "" {
		return "UTC"
	}
	return zone
}

// setSchedule has a reminder come again and again.
func (s *Store) setSchedule(ctx context.Context, tx queue.Tx, r *row, zone string) error {
	err := s.cfg.Queue.SetScheduleTx(ctx, tx, queue.Schedule{Name: schedulePrefix + r.ID, Cron: r.Cron, Zone: zone,
		Job: r.job()})
	if errors.Is(err, queue.ErrInvalidSchedule) {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return err
}

const schedulePrefix = "reminder:"

// job is what delivers the reminder.
func (r *row) job() queue.NewJob {
	return JobDelivery.New(Payload{ReminderID: r.ID, UserID: r.UserID}, &queue.Options{UserID: r.UserID,
		MaxAttempts: attempts.Unattended})
}

// enqueue enqueues the job that delivers a reminder when it is due. Of these there is one at a time; that of a delivery
// that is on record may still be unfinished.
func (s *Store) enqueue(ctx context.Context, tx queue.Tx, r *row) (jobID string, err error) {
	job := r.job()
	job.NotBefore = r.DueAt.Time
	job.Key = queue.WhileUnfinished(fmt.Sprintf("%s:%s:%s:%d", JobDelivery, r.UserID, r.ID, r.Deliveries))
	result, err := s.cfg.Queue.EnqueueTx(ctx, tx, job)
	return result.ID, err
}

// Snooze has a reminder come at a time, in place of the time it waits for if it comes once. One that has come comes
// again then; one that recurs comes then as well. The error is [ErrCanceled] if it was canceled, [ErrInvalid] if the
// time is not in the future or more than 10 years ahead, and [ErrTooMany] if it has come and no more may be open.
func (s *Store) Snooze(ctx context.Context, tx queue.Tx, id string, until time.Time) error {
	err := checkTime(until, queue.Now(tx))
	if err == nil {
		err = s.change(ctx, tx, id, func(r *row) (int64, error) {
			if r.State == Delivered {
				if err := checkRoom(ctx, tx, r.UserID); err != nil {
					return 0, err
				}
			}
			before := r.JobID
			r.DueAt = dbtime.Of(dbtime.Truncate(until))
			jobID, err := s.enqueue(ctx, tx, r)
			if err != nil {
				return 0, err
			}
			return dbquery.Exec(ctx, tx, sqlSnooze, r.DueAt, jobID, r.ID, before)
		})
	}
	if err != nil {
		return fmt.Errorf("reminders: snooze %q: %w", id, err)
	}
	return nil
}

// Cancel ends a reminder: it comes no more. The error is [ErrCanceled] if it was canceled before.
func (s *Store) Cancel(ctx context.Context, tx queue.Tx, id string) error {
	err := s.change(ctx, tx, id, func(r *row) (int64, error) {
		n, err := dbquery.Exec(ctx, tx, sqlCancel, r.ID, r.JobID)
		if err == nil && n > 0 {
			err = s.removeSchedule(ctx, tx, r)
		}
		return n, err
	})
	if err != nil {
		return fmt.Errorf("reminders: cancel %q: %w", id, err)
	}
	return nil
}

// errBusy: the reminder comes at this moment, and again and again.
var errBusy = errors.New("it is being delivered; try again")

// change cancels the job that waits and then has fn change the row, if that still waits for this job. The job is locked
// first, and then the row, as the job itself does: the other way, each could wait for the other.
func (s *Store) change(ctx context.Context, tx queue.Tx, id string, fn func(r *row) (changed int64, err error)) error {
	for range 3 {
		r, err := read(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case r.State == Canceled:
			return ErrCanceled
		}
		if err := s.cancelJob(ctx, tx, &r); err != nil {
			return err
		}
		if changed, err := fn(&r); err != nil || changed > 0 {
			return err
		}
	}
	return errBusy
}

// cancelJob cancels the job that waits. One that has ended meanwhile has delivered, or was removed with its user.
func (s *Store) cancelJob(ctx context.Context, tx queue.Tx, r *row) error {
	if r.JobID == "" {
		return nil
	}
	err := s.cfg.Queue.CancelTx(ctx, tx, r.JobID)
	if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
		return nil
	}
	return err
}

func (s *Store) removeSchedule(ctx context.Context, tx queue.Tx, r *row) error {
	if r.Cron == "" {
		return nil
	}
	err := s.cfg.Queue.RemoveScheduleTx(ctx, tx, schedulePrefix+r.ID)
	if errors.Is(err, queue.ErrScheduleNotFound) {
		return nil
	}
	return err
}

// Forget removes the reminders of a user in the caller's transaction, with their jobs that wait and their schedules.
func (s *Store) Forget(ctx context.Context, tx queue.Tx, userID string) error {
	var rows []row
	err := dbquery.Select(ctx, tx, &rows, sqlOfUser, userID)
	for i := 0; i < len(rows) && err == nil; i++ {
		if err = s.cancelJob(ctx, tx, &rows[i]); err == nil {
			err = s.removeSchedule(ctx, tx, &rows[i])
		}
	}
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlForget, userID)
	}
	if err != nil {
		return fmt.Errorf("reminders: forget user %q: %w", userID, err)
	}
	return nil
}
