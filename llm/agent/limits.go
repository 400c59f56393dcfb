package agent

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// begun is the result of the first step of a job.
type begun struct {
	RunID   string `json:"run_id"`
	Refused bool   `json:"refused,omitempty"`
}

// begin records a run, or that it is refused: its profile is paused, or a limit is reached.
func (a *Agent) begin(ctx context.Context, tx queue.Tx, p *Profile, msg *postroom.Message, jobID string) (
	begun, error) {
	refused, err := refusal(ctx, tx, p, msg)
	if err != nil {
		return begun{}, fmt.Errorf("llm/agent: count the runs of profile %s: %w", p.Name, err)
	}
	id, err := insertRun(ctx, tx, p, msg, jobID, "", refused)
	if err == nil && refused != "" && a.cfg.Refused != nil {
		err = a.cfg.Refused(ctx, tx, Run{ID: id, AccountID: msg.AccountID, ThreadID: msg.ThreadID, MessageID: msg.ID,
			Profile: p.Name, Version: p.Version, Model: p.Model, JobID: jobID, State: StateRefused, Reason: refused})
	}
	return begun{id, refused != ""}, err
}

// window is the time in which runs are counted.
const window = 24 * time.Hour

// refusal says why a run may not start; empty if it may.
func refusal(ctx context.Context, tx queue.Tx, p *Profile, msg *postroom.Message) (string, error) {
	var row profileRow
	if err := dbquery.Get(ctx, tx, &row, sqlLockProfile, p.Name); err != nil {
		return "", err
	}
	if !row.PausedAt.IsZero() {
		return "the profile is paused: " + row.Reason, nil
	}
	since := dbtime.Of(queue.Now(tx).Add(-window))
	var runs int
	if err := dbquery.Get(ctx, tx, &runs, sqlCountDay, msg.AccountID, p.Name, since); err != nil {
		return "", err
	}
	if runs >= p.Limits.RunsADay {
		return fmt.Sprintf("the mailbox has had %d runs of the profile within a day, which is its limit", runs), nil
	}
	if msg.ThreadID == "" { // a run of a schedule
		return "", nil
	}
	if err := dbquery.Get(ctx, tx, &runs, sqlCountThread, msg.AccountID, msg.ThreadID, p.Name, since); err != nil {
		return "", err
	}
	if runs >= p.Limits.RunsAThread {
		return fmt.Sprintf("the thread has had %d runs of the profile within a day, which is its limit", runs), nil
	}
	return "", nil
}

// ended records the outcome of a run. The failures of the profile are not in a row any more.
func (a *Agent) ended(ctx context.Context, tx queue.Tx, r *run, end *conclusion, actionID string) error {
	if err := endRun(ctx, tx, r, end, actionID); err != nil {
		return err
	}
	if _, err := dbquery.Exec(ctx, tx, sqlWell, r.profile.Name); err != nil {
		return fmt.Errorf("llm/agent: note that profile %s works: %w", r.profile.Name, err)
	}
	return nil
}

// failed records that the run of a job has failed, and pauses the profile after some failures in a row.
func (a *Agent) failed(ctx context.Context, w *queue.Attempt, cause error) error {
	return w.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return a.fail(ctx, tx, w.Job.ID, cause.Error()) })
}

// fail ends the run of a job, unless it has ended or has not begun.
func (a *Agent) fail(ctx context.Context, tx queue.Tx, jobID, cause string) error {
	var name string
	now := dbtime.Of(dbtime.Truncate(queue.Now(tx)))
	err := dbquery.Get(ctx, tx, &name, sqlFailRun, dbvalue.Clean(cause), now, jobID)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	var failures int
	if err == nil {
		err = dbquery.Get(ctx, tx, &failures, sqlFailed, name)
	}
	if p := a.profiles[name]; err == nil && p != nil && failures >= p.Limits.Failures {
		reason := fmt.Sprintf("%d runs in a row have failed; the last: %s", failures, cause)
		_, err = dbquery.Exec(ctx, tx, sqlPause, now, dbvalue.Clean(reason), name)
		if err == nil && a.cfg.Paused != nil {
			err = a.cfg.Paused(ctx, tx, name, reason)
		}
	}
	if err != nil {
		return fmt.Errorf("llm/agent: record that a run of profile %s has failed: %w", name, err)
	}
	return nil
}

// A ProfileState is what has become of a profile.
type ProfileState struct {
	Profile
	Failures int       // in a row
	PausedAt time.Time // zero unless it is paused
	Reason   string    // why it is paused
}

type profileRow struct {
	Name     string      `db:"name"`
	Failures int         `db:"failures"`
	PausedAt dbtime.Time `db:"paused_at"`
	Reason   string      `db:"reason"`
}

// Profiles returns the profiles in the order of the configuration.
func (a *Agent) Profiles(ctx context.Context) ([]ProfileState, error) {
	var rows []profileRow
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlProfiles); err != nil {
		return nil, fmt.Errorf("llm/agent: read the profiles: %w", err)
	}
	list := make([]ProfileState, len(a.cfg.Profiles))
	for i, p := range a.cfg.Profiles {
		list[i].Profile = *a.profiles[p.Name]
		for _, r := range rows {
			if r.Name == p.Name {
				list[i].Failures, list[i].PausedAt, list[i].Reason = r.Failures, r.PausedAt.Time, r.Reason
			}
		}
	}
	return list, nil
}

// Resume lets a paused profile run again. A profile that has never run is [postroom.ErrNotFound].
func (a *Agent) Resume(ctx context.Context, tx queue.Tx, profile string) error {
	n, err := dbquery.Exec(ctx, tx, sqlResume, profile)
	if err == nil && n == 0 {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("llm/agent: resume profile %q: %w", profile, err)
	}
	return nil
}

// Cancel ends a run and its job: the call that is under way is interrupted, and no outcome is recorded. A run that does
// not run is [postroom.ErrNotFound].
func (a *Agent) Cancel(ctx context.Context, tx queue.Tx, q *queue.Queue, runID, why string) error {
	var jobID string
	err := dbquery.Get(ctx, tx, &jobID, sqlCancelRun, dbvalue.Clean(why), dbtime.Of(dbtime.Truncate(queue.Now(tx))), runID)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err == nil && jobID != "" {
		err = q.CancelTx(ctx, tx, jobID)
	}
	// A job that has ended without its run, as after too many crashes, needs no end.
	if err != nil && !errors.Is(err, queue.ErrFinished) && !errors.Is(err, queue.ErrJobNotFound) {
		return fmt.Errorf("llm/agent: cancel run %q: %w", runID, err)
	}
	return nil
}
