package safety

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/stop"
)

func (d *desk) stop(by string, o stop.Options) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Switch().Stop(ctx, tx, by, o) })
}

func (d *desk) resume(by string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.Switch().Resume(ctx, tx, by, "") })
}

func (d *desk) undo(id, job string) (postroom.Action, error) {
	return d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		if err := d.ledger.RequestUndo(ctx, tx, id, job, "ann"); err != nil {
			return postroom.Action{}, err
		}
		return d.ledger.StartUndo(ctx, tx, id, job)
	})
}

// TestNothingStartsWhileAllIsStopped: no action, none that has begun, and no undo; decisions and answers are recorded.
func TestNothingStartsWhileAllIsStopped(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, other := newDesk(t, db, nil), newDesk(t, db, nil)
		done := d.completed()
		begun := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		_, err := d.start(begun, "job-1")
		require.NoError(t, err)
		waits := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID

		require.NoError(t, other.stop("ann", stop.Options{Why: "it archives everything"}))
		queued := d.record(message("a@example.com"), rule(postroom.Archive, ""))
		require.Equal(t, postroom.ActionQueued, queued.State)
		_, err = d.approve(waits, "ann")
		require.NoError(t, err)
		for _, id := range []string{begun, queued.ID, waits} {
			state := d.get(id).State
			_, err = d.start(id, "job-1")
			var held *postroom.HeldError
			require.ErrorAs(t, err, &held)
			require.Contains(t, held.Reason, "stopped by ann on ")
			require.Contains(t, held.Reason, ": it archives everything")
			require.Zero(t, held.Until)
			require.Equal(t, state, d.get(id).State)
		}
		_, err = d.undo(done.ID, "job-2")
		require.ErrorIs(t, err, postroom.ErrHeld)
		require.ErrorIs(t, d.ledger.Held(t.Context()), postroom.ErrHeld)

		require.NoError(t, d.resume("bob"))
		require.NoError(t, d.ledger.Held(t.Context()))
		for _, id := range []string{begun, queued.ID, waits} {
			a, err := d.start(id, "job-1")
			require.NoError(t, err)
			require.Equal(t, postroom.ActionExecuting, a.State)
		}
		_, err = d.undo(done.ID, "job-2")
		require.NoError(t, err)
	})
}

// TestUndoWhileAllIsStopped: what has gone wrong can be taken back before all goes on.
func TestUndoWhileAllIsStopped(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		done, queued := d.completed(), d.record(message("a@example.com"), rule(postroom.Archive, ""))
		require.NoError(t, d.stop("ann", stop.Options{Undos: true}))
		_, err := d.start(queued.ID, "job-1")
		require.ErrorIs(t, err, postroom.ErrHeld)
		undo, err := d.undo(done.ID, "job-2")
		require.NoError(t, err)
		require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
	})
}

// TestWhoStopsAndResumesIsOnRecord, and is told of once for each change.
func TestWhoStopsAndResumesIsOnRecord(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var told []events.Kind
		d := newDesk(t, db, func(c *Config) {
			c.Notify = func(_ context.Context, _ queue.Tx, e events.Event) error {
				told = append(told, e.Kind)
				return nil
			}
		})
		stopped, err := d.ledger.Switch().Stopped(t.Context())
		require.NoError(t, err)
		require.Nil(t, stopped)
		require.NoError(t, d.resume("ann"), "nothing to resume")
		require.ErrorContains(t, d.stop(" ", stop.Options{}), "the name of who does it is blank")
		require.ErrorContains(t, d.resume(""), "the name of who does it is blank")

		require.NoError(t, d.stop("ann", stop.Options{Why: "odd\x00"}))
		require.NoError(t, d.stop("bob", stop.Options{Why: "very odd", Undos: true}))
		stopped, err = d.ledger.Switch().Stopped(t.Context())
		require.NoError(t, err)
		require.Equal(t, "bob", stopped.By)
		require.True(t, stopped.Undos)
		require.WithinDuration(t, d.now, stopped.At, time.Millisecond)
		require.NoError(t, d.resume("cyd"))
		require.NoError(t, d.resume("cyd"), "twice")
		stopped, err = d.ledger.Switch().Stopped(t.Context())
		require.NoError(t, err)
		require.Nil(t, stopped)

		list, err := d.ledger.Events().List(t.Context(), 100)
		require.NoError(t, err)
		var kinds []events.Kind
		var names []string
		for _, e := range list {
			kinds, names = append(kinds, e.Kind), append(names, e.By+" "+e.Why)
		}
		require.Equal(t, []events.Kind{events.Resumed, events.Stopped, events.Stopped}, kinds)
		require.Equal(t, []string{"cyd ", "bob very odd", "ann odd\uFFFD"}, names)
		require.Equal(t, []events.Kind{events.Stopped, events.Stopped, events.Resumed}, told)
		_, err = d.ledger.Events().List(t.Context(), 0)
		require.Error(t, err)
	})
}

func TestAFileStopsThisProcess(t *testing.T) {
	db := dbtest.SQLite(t)
	file := filepath.Join(t.TempDir(), "stop")
	d := newDesk(t, db, func(c *Config) { c.StopFile = file })
	queued, done := d.record(message("a@example.com"), rule(postroom.Archive, "")), d.completed()

	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := d.start(queued.ID, "job-1")
	require.ErrorIs(t, err, postroom.ErrHeld)
	require.ErrorContains(t, err, file+" exists; remove it to go on")
	_, err = d.undo(done.ID, "job-2")
	require.ErrorIs(t, err, postroom.ErrHeld)
	stopped, err := d.ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.Equal(t, file, stopped.File)

	require.NoError(t, os.Remove(file))
	require.NoError(t, os.Symlink("nowhere", file))
	_, err = d.start(queued.ID, "job-1")
	require.ErrorIs(t, err, postroom.ErrHeld, "a link that leads nowhere is there")

	odd := newDesk(t, db, func(c *Config) { c.StopFile = filepath.Join(file, "\x00") })
	_, err = odd.start(queued.ID, "job-1")
	require.ErrorContains(t, err, "cannot be looked at")
	require.NoError(t, os.Remove(file))
	_, err = d.start(queued.ID, "job-1")
	require.NoError(t, err)
}

// TestADryRun records everything and carries out nothing, what was queued before included.
func TestADryRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		wet := newDesk(t, db, nil)
		before, done := wet.record(message("a@example.com"), rule(postroom.Archive, "")), wet.completed()
		d := newDesk(t, db, func(c *Config) { c.DryRun = true })
		for _, tc := range []struct {
			decision postroom.Decision
			state    postroom.ActionState
			error    string
		}{
			{rule(postroom.Archive, ""), postroom.ActionCanceled, "dry run: it would have been carried out"},
			{model(postroom.Delete, 1), postroom.ActionCanceled, "dry run: a person would have been asked"},
			{rule(postroom.None, ""), postroom.ActionCompleted, ""},
		} {
			a := d.record(message("a@example.com"), tc.decision)
			require.Equal(t, tc.state, a.State)
			require.Equal(t, tc.error, a.Error)
			rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
			require.NoError(t, err)
			require.Equal(t, tc.decision.Action, rec.Decision.Action)
		}
		require.Empty(t, d.executed)
		require.Empty(t, d.asked)
		_, err := d.start(before.ID, "job-1")
		require.ErrorContains(t, err, "this is a dry run: nothing is carried out")
		_, err = d.undo(done.ID, "job-1")
		require.ErrorIs(t, err, postroom.ErrHeld)
		_, err = wet.start(before.ID, "job-1")
		require.NoError(t, err)
	})
}
