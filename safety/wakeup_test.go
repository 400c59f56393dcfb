package safety

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// asleep records some snoozes of a message, and carries them out.
func (d *desk) asleep(n int) (snoozes []postroom.Action) {
	msg := message("a@example.com")
	before, after := postroom.NewSnapshot([]string{"INBOX"}), postroom.NewSnapshot([]string{"Label_1"})
	for i := range n {
		dec := rule(postroom.Snooze, "")
		dec.Parameters, dec.Key = postroom.Parameters{"amount": 3, "units": "days"}, strconv.Itoa(i)
		a := d.record(msg, dec)
		_, err := d.start(a.ID, "job-1")
		require.NoError(d.t, err)
		require.NoError(d.t, d.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &before,
			After: &after}))
		snoozes = append(snoozes, d.get(a.ID))
	}
	return snoozes
}

func (d *desk) startWakeUp(snoozeID, jobID string) (sleep postroom.Sleep, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		sleep, err = d.ledger.StartWakeUp(ctx, tx, snoozeID, jobID)
		return err
	})
	return sleep, err
}

func (d *desk) completeWakeUp(snoozeID, jobID string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error {
		return d.ledger.CompleteWakeUp(ctx, tx, snoozeID, jobID, postroom.WakeUp{
			Before: postroom.NewSnapshot([]string{"Label_1"}), After: postroom.NewSnapshot([]string{"INBOX"}),
			Change: postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
		})
	})
}

// TestAWakeUpTakesATurn: no action starts beside it, and it starts beside none.
func TestAWakeUpTakesATurn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		snooze := d.asleep(1)[0]
		sleep, err := d.startWakeUp(snooze.ID, "wake-1")
		require.NoError(t, err)
		require.Equal(t, postroom.Sleep{Turn: 2}, sleep)
		again, err := d.startWakeUp(snooze.ID, "wake-1")
		require.NoError(t, err)
		require.Equal(t, sleep, again, "it has its turn already")

		taken := postroom.BusyError{MessageID: snooze.MessageID, ActionID: snooze.ID, JobID: "wake-1"}
		var busy *postroom.BusyError
		_, err = d.startUndo(snooze.ID, "job-2")
		require.ErrorAs(t, err, &busy)
		require.Equal(t, taken, *busy)
		_, err = d.startWakeUp(snooze.ID, "wake-2")
		require.ErrorAs(t, err, &busy)
		require.Equal(t, taken, *busy)
		holder, err := d.ledger.Executing(t.Context(), snooze.AccountID, snooze.MessageID)
		require.NoError(t, err)
		require.Equal(t, "wake-1", holder.JobID)

		require.NoError(t, d.completeWakeUp(snooze.ID, "wake-1"))
		woken := d.get(snooze.ID)
		require.Equal(t, postroom.ActionCompleted, woken.State)
		require.Equal(t, int64(2), woken.UndoHint.Woken.Turn)
		require.Equal(t, snooze.UndoHint.Before, woken.UndoHint.Before)
		require.Equal(t, snooze.JobID, woken.JobID)
		_, err = d.startUndo(snooze.ID, "job-2")
		require.NoError(t, err)
		_, err = d.startWakeUp(snooze.ID, "wake-2")
		require.ErrorIs(t, err, postroom.ErrMessageBusy)
	})
}

// TestTheTurnOfADeadWakeUp is taken from it by the failure of its snooze, which stays completed.
func TestTheTurnOfADeadWakeUp(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		snooze := d.asleep(1)[0]
		_, err := d.startWakeUp(snooze.ID, "wake-1")
		require.NoError(t, err)
		require.NoError(t, d.fail(snooze.ID, "its job ended before it did"))
		require.Equal(t, snooze, d.get(snooze.ID))
		require.Error(t, d.completeWakeUp(snooze.ID, "wake-1"), "it has no turn")
		var ended *StateError
		require.ErrorAs(t, d.fail(snooze.ID, "again"), &ended)

		_, err = d.startWakeUp(snooze.ID, "wake-2")
		require.NoError(t, err)
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			return d.ledger.StopWakeUp(ctx, tx, snooze.ID, "wake-1")
		}))
		require.NoError(t, d.completeWakeUp(snooze.ID, "wake-2"), "only its own job ends it")
	})
}

// TestWhichSnoozeCounts: the one that was executed last, without those that are undone; and none from before a wake-up.
func TestWhichSnoozeCounts(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	s := d.asleep(3)
	sleepOf := func(snooze postroom.Action) postroom.Sleep {
		sleep, err := d.startWakeUp(snooze.ID, "wake-1")
		require.NoError(t, err)
		require.NoError(t, d.write(func(ctx context.Context, tx queue.Tx) error {
			return d.ledger.StopWakeUp(ctx, tx, snooze.ID, "wake-1")
		}))
		sleep.Turn = 0
		return sleep
	}
	require.Equal(t, postroom.Sleep{Later: []string{s[1].ID, s[2].ID}}, sleepOf(s[0]))
	require.Equal(t, postroom.Sleep{}, sleepOf(s[2]))

	image := postroom.NewSnapshot(nil)
	undo, err := d.startUndo(s[2].ID, "job-1")
	require.NoError(t, err)
	require.NoError(t, d.complete(undo.ID, postroom.UndoHint{InverseAction: postroom.Snooze, Before: &image,
		After: &image}))
	require.Equal(t, postroom.Sleep{Later: []string{s[1].ID}}, sleepOf(s[0]))
	require.True(t, sleepOf(s[2]).Over)

	redo, err := d.startUndo(undo.ID, "job-1")
	require.NoError(t, err)
	require.NoError(t, d.complete(redo.ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true,
		Before: &image, After: &image}))
	require.Equal(t, postroom.Sleep{Later: []string{s[2].ID}}, sleepOf(s[1]))

	_, err = d.startWakeUp(s[1].ID, "wake-1")
	require.NoError(t, err)
	require.NoError(t, d.completeWakeUp(s[1].ID, "wake-1"))
	for i := range s {
		require.True(t, sleepOf(s[i]).Over, "snooze %d", i)
	}
}
