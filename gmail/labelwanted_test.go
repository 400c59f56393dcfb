package gmail

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) wanted() []string {
	w.t.Helper()
	names, err := w.store.WantedLabels(w.t.Context(), w.account)
	require.NoError(w.t, err)
	return names
}

// held keeps everything from being changed, and returns what ends that.
func (w *world) held() (resume func()) {
	w.ledger.Holding = func() error { return &postroom.HeldError{Reason: "stopped by ada"} }
	return func() { w.ledger.Holding = nil }
}

// While nothing may be changed no label is made. Those that are missing are wanted, and made by the next sync that may.
func TestLabelsAreNotMadeWhileHeld(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		bills := w.userLabel("Bills")
		resume := w.held()
		job := w.job(w.run(NewLabelsSyncJob(w.account, "bills", "Trips", "TRIPS", "Zoo")))
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		require.Equal(t, 1, w.server.Counts()[gmailtest.LabelsCreate], "that of the user")
		require.Equal(t, "Bills", w.labelNames()[bills], "the others are synced")
		var result LabelsSyncResult
		require.NoError(t, json.Unmarshal(job.Result, &result))
		require.Equal(t, []string{"TRIPS", "Zoo"}, result.Waiting)
		require.Contains(t, result.Why, "stopped by ada")
		require.Equal(t, []string{"TRIPS", "Zoo"}, w.wanted())
		id, ok, err := w.store.LabelID(t.Context(), w.account, "trips")
		require.NoError(t, err)
		require.True(t, ok, "mail is decided about as if the label were there")
		require.Equal(t, "TRIPS", id)

		w.run(NewLabelsSyncJob(w.account))
		require.Equal(t, []string{"TRIPS", "Zoo"}, w.wanted(), "they are wanted until they are made")
		resume()
		w.run(NewLabelsSyncJob(w.account))
		require.Equal(t, 3, w.server.Counts()[gmailtest.LabelsCreate])
		require.Empty(t, w.wanted())
		id, ok, err = w.store.LabelID(t.Context(), w.account, "trips")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "TRIPS", w.labelNames()[id])
	})
}

// Two syncs side by side: the one that ends last leaves what the other wants.
func TestSyncsWantLabelsSideBySide(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		resume := w.held()
		w.run(NewLabelsSyncJob(w.account, "Zoo"))
		reason, beside := w.ledger.Holding, true
		w.ledger.Holding = func() error { // asked between the reading of what is wanted and the end of the sync
			if beside {
				beside = false
				require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					return w.store.SetWantedLabels(ctx, tx, w.account, nil, []string{"Letters"}) // as another sync does
				}))
			}
			return reason()
		}
		w.run(NewLabelsSyncJob(w.account))
		require.Equal(t, []string{"Letters", "Zoo"}, w.wanted())
		resume()
		w.run(NewLabelsSyncJob(w.account))
		require.Empty(t, w.wanted())
	})
}

// An action that was decided while its label was wanted makes the label, or finds it, and is undone by its id.
func TestActionsMakeTheLabelsThatWereWanted(t *testing.T) {
	w := newWorld(t)
	first, firstID := w.known("INBOX")
	second, secondID := w.known("INBOX")
	resume := w.held()
	w.run(NewLabelsSyncJob(w.account, "Trips"))
	resume()
	for message, name := range map[string]string{first: "trips", second: "TRIPS"} {
		job, action := w.act(message, postroom.ApplyLabel, name)
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		id, _, err := w.store.LabelID(t.Context(), w.account, "Trips")
		require.NoError(t, err)
		require.Equal(t, "Trips", w.labelNames()[id], "as the rules write it")
		require.Equal(t, postroom.Parameters{"label": id}, action.UndoHint.InverseParameters)
		require.Equal(t, []string{id}, action.UndoHint.Change.Add)
	}
	require.Equal(t, 1, w.server.Counts()[gmailtest.LabelsCreate])
	require.Empty(t, w.wanted())
	for _, providerID := range []string{firstID, secondID} {
		atGmail, here := w.labels(providerID)
		require.Equal(t, atGmail, here)
		require.Len(t, here, 2)
	}
	job, action := w.act(first, postroom.ApplyLabel, "Zoo")
	require.Equal(t, queue.StateFailed, job.State)
	require.Equal(t, postroom.ActionFailed, action.State, "nobody wanted this one")
	require.Equal(t, 1, w.server.Counts()[gmailtest.LabelsCreate])
}

// What an action names is an id first: another label of that name is not meant.
func TestAnIDIsNoName(t *testing.T) {
	w := newWorld(t)
	bills := w.userLabel("Bills")
	w.run(NewLabelsSyncJob(w.account))
	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.SaveLabel(ctx, tx, w.account, postroom.Label{ID: "Label_0", Name: bills, Type: postroom.LabelUser})
	})
	message, _ := w.known("INBOX")
	job, action := w.act(message, postroom.ApplyLabel, bills)
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, []string{bills}, action.UndoHint.Change.Add)
}

// A label stops being wanted when it is stored. Whoever asks meanwhile finds the one or the other.
func TestALabelIsFoundWhileItIsMade(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		label := postroom.Label{ID: "Label_7", Name: "Trips", Type: postroom.LabelUser}
		want := func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(w.store.DeleteLabel(ctx, tx, w.account, label.ID),
				w.store.SetWantedLabels(ctx, tx, w.account, nil, []string{label.Name}))
		}
		made := func(ctx context.Context, tx queue.Tx) error {
			return errors.Join(w.store.SaveLabel(ctx, tx, w.account, label),
				w.store.SetWantedLabels(ctx, tx, w.account, []string{label.Name}, nil))
		}
		write(t, w.store, want)
		ended := make(chan error, 1)
		go func() {
			var err error
			for n := 0; n < 200 && err == nil; n++ {
				err = errors.Join(w.db.Write(t.Context(), made), w.db.Write(t.Context(), want))
			}
			ended <- err
		}()
		for {
			select {
			case err := <-ended:
				require.NoError(t, err)
				return
			default:
			}
			_, ok, err := w.store.LabelID(t.Context(), w.account, "trips")
			require.NoError(t, err)
			require.True(t, ok)
			id, wanted, err := w.store.ActionLabel(t.Context(), w.account, "trips")
			require.NoError(t, err)
			require.True(t, id != "" || wanted != "")
		}
	})
}

// A message that is decided about before the labels of a new rule are made gets the label, which its action makes.
func TestLabelsOfNewRulesAreThereAtOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.userLabel("Bills")
		w.run(NewLabelsSyncJob(w.account))
		message, _ := w.known("INBOX")
		write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
			return EnsureLabels(ctx, tx, w.queue, w.store, w.account, "bills", "Trips")
		})
		require.Equal(t, []string{"Trips"}, w.wanted(), "the other is there")
		name, ok, err := w.store.LabelID(t.Context(), w.account, "trips")
		require.NoError(t, err)
		require.True(t, ok)
		job, action := w.act(message, postroom.ApplyLabel, name)
		require.Equal(t, queue.StateCompleted, job.State, job.LastError)
		require.Equal(t, postroom.ActionCompleted, action.State)
		w.run()
		made := 0
		for _, label := range w.labelNames() {
			if label == "Trips" {
				made++
			}
		}
		require.Equal(t, 1, made, "by the action or by the sync, which may run beside each other")
		require.Empty(t, w.wanted())
	})
}
