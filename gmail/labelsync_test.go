package gmail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) labelNames() map[string]string {
	w.t.Helper()
	labels, err := w.store.Labels(w.t.Context(), w.account)
	require.NoError(w.t, err)
	names := make(map[string]string)
	for _, l := range labels {
		names[l.ID] = l.Name
	}
	return names
}

func TestLabelsFollowGmail(t *testing.T) {
	w := newWorld(t)
	bills, trips := w.userLabel("Bills"), w.userLabel("Trips")
	w.run(NewLabelsSyncJob(w.account))
	require.Subset(t, w.labelNames(), map[string]string{"INBOX": "INBOX", bills: "Bills", trips: "Trips"})

	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.DescribeLabel(ctx, tx, w.account, bills, "what costs money", false)
	})
	_, err := w.google.Users.Labels.Patch("me", bills, &api.Label{Name: "Rechnungen"}).Do()
	require.NoError(t, err)
	require.NoError(t, w.google.Users.Labels.Delete("me", trips).Do())

	other := ensureAccount(t, w.store, "another@example.com")
	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		return w.store.SaveLabel(ctx, tx, other, postroom.Label{ID: trips, Name: "Trips", Type: postroom.LabelUser})
	})
	var deleted []postroom.Label
	w.cfg.OnLabelDeleted = func(_ context.Context, _ queue.Tx, accountID string, label postroom.Label) error {
		require.Equal(t, w.account, accountID)
		deleted = append(deleted, label)
		return nil
	}
	w.run(NewLabelsSyncJob(w.account))

	names := w.labelNames()
	require.Equal(t, "Rechnungen", names[bills])
	require.NotContains(t, names, trips)
	require.Equal(t, []postroom.Label{
		{ID: trips, AccountID: w.account, Name: "Trips", Type: postroom.LabelUser, AvailableToClassifier: true},
	}, deleted)
	labels, err := w.store.Labels(t.Context(), w.account)
	require.NoError(t, err)
	require.Contains(t, labels, postroom.Label{
		ID: bills, AccountID: w.account, Name: "Rechnungen", Type: postroom.LabelUser, Description: "what costs money",
	})
	theirs, err := w.store.Labels(t.Context(), other)
	require.NoError(t, err)
	require.Len(t, theirs, 1, "another account's labels are none of its business")
}

func TestLabelDeletionAndItsHookAreOneTransaction(t *testing.T) {
	w := newWorld(t)
	bills, trips := w.userLabel("Bills"), w.userLabel("Trips")
	w.run(NewLabelsSyncJob(w.account))
	require.NoError(t, w.google.Users.Labels.Delete("me", bills).Do())
	require.NoError(t, w.google.Users.Labels.Delete("me", trips).Do())
	w.cfg.OnLabelDeleted = func(_ context.Context, _ queue.Tx, _ string, label postroom.Label) error {
		if label.Name == "Trips" {
			return errors.New("disk full")
		}
		return nil
	}
	job := w.job(w.run(NewLabelsSyncJob(w.account)))
	require.Equal(t, queue.StateFailed, job.State)
	require.Subset(t, w.labelNames(), map[string]string{bills: "Bills", trips: "Trips"})
}

func TestEnsuredLabels(t *testing.T) {
	w := newWorld(t)
	bills := w.userLabel("Bills")
	job := w.job(w.run(NewLabelsSyncJob(w.account, "BILLS", "Trips/2026", "inbox")))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, w.server.Counts()[gmailtest.LabelsCreate]-1, "one is the user's")
	id, ok, err := w.store.LabelID(t.Context(), w.account, "trips/2026")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "Trips/2026", w.labelNames()[id])
	require.Equal(t, "Bills", w.labelNames()[bills])
}

// A name that Gmail refuses fails alone: the others are created, and all labels are synced.
func TestRefusedLabelFailsAlone(t *testing.T) {
	w := newWorld(t)
	bills := w.userLabel("Bills")
	long := strings.Repeat("x", 226)
	var logged logs
	w.cfg.Logger = logged.logger()
	w.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsCreate, Nth: 1, Status: 400, Message: "Invalid label name"})
	job := w.job(w.run(NewLabelsSyncJob(w.account, "Trips", long, "Zoo", "In\u202eBox")))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	names := w.labelNames()
	require.Equal(t, "Bills", names[bills])
	require.Len(t, logged.lines, 3)
	var result LabelsSyncResult
	require.NoError(t, json.Unmarshal(job.Result, &result))
	require.Len(t, result.Refused, 3)
	require.Equal(t, "In\u202eBox", result.Refused[0].Name)
	require.Contains(t, result.Refused[0].Reason, "U+202E")
	require.Equal(t, "Trips", result.Refused[1].Name)
	require.Contains(t, result.Refused[1].Reason, "Invalid label name", "Gmail's own word")
	require.Equal(t, long, result.Refused[2].Name)
	_, ok, err := w.store.LabelID(t.Context(), w.account, "Zoo")
	require.NoError(t, err)
	require.True(t, ok, "the others are created")
}

func TestNoLabelsAtAllIsAFault(t *testing.T) {
	w := newWorld(t)
	bills := w.userLabel("Bills")
	w.run(NewLabelsSyncJob(w.account))
	known := w.labelNames()
	w.cfg.OnLabelDeleted = func(context.Context, queue.Tx, string, postroom.Label) error {
		return errors.New("must not be called")
	}
	for _, answer := range []string{`{}`, `{"labels":[]}`} {
		w.answering(func(*http.Request) string { return answer })
		job := w.job(w.run(NewLabelsSyncJob(w.account)))
		require.Equal(t, queue.StateFailed, job.State)
		require.Contains(t, job.LastError, "no labels at all")
		require.Equal(t, 5, job.Attempt, "it may pass")
		require.Equal(t, known, w.labelNames())
		require.Contains(t, known, bills)
	}
}

// A label that another sync creates and stores while Gmail's answer is under way is not in it, and not deleted.
func TestLabelStoredWhileTheListWasRead(t *testing.T) {
	w := newWorld(t)
	w.wire.Before = func(r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/labels") {
			write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
				return w.store.SaveLabel(ctx, tx, w.account, postroom.Label{ID: "Label_99", Name: "New", Type: postroom.LabelUser})
			})
		}
	}
	w.run(NewLabelsSyncJob(w.account))
	require.Contains(t, w.labelNames(), "Label_99")
}

func TestCreateLabel(t *testing.T) {
	w := newWorld(t)
	created, err := w.client.CreateLabel(t.Context(), "Bills")
	require.NoError(t, err)
	require.Equal(t, "Bills", created.Name)
	require.Equal(t, postroom.LabelUser, created.Type)

	found, err := w.client.CreateLabel(t.Context(), "Bills")
	require.NoError(t, err)
	require.Equal(t, created, found)

	calls := len(w.server.Calls())
	for _, bad := range []string{"", " \t", strings.Repeat("x", 226), "Inbox"} {
		_, err = w.client.CreateLabel(t.Context(), bad)
		require.Equal(t, gmailapi.ClassInvalid, gmailapi.ClassOf(err))
	}
	require.Len(t, w.server.Calls(), calls, "Gmail is not asked")

	// A conflict with a label that the list does not show stays one.
	w.client = clientOf(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			rw.WriteHeader(http.StatusConflict)
		}
		_, _ = fmt.Fprint(rw, `{}`)
	})
	_, err = w.client.CreateLabel(t.Context(), "Bills")
	require.Equal(t, gmailapi.ClassConflict, gmailapi.ClassOf(err))
}

// Gmail has no label of the name, and says that it is in conflict with one.
func TestALabelInConflictFailsAlone(t *testing.T) {
	w := newWorld(t)
	bills := w.userLabel("Bills")
	w.server.Fault(gmailtest.Fault{
		Method: gmailtest.LabelsCreate, Status: http.StatusConflict, Reason: "alreadyExists",
		Message: "Label name exists or conflicts", Times: -1,
	})
	job := w.job(w.run(NewLabelsSyncJob(w.account, "Trips")))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, "Bills", w.labelNames()[bills], "the others are synced")
	var result LabelsSyncResult
	require.NoError(t, json.Unmarshal(job.Result, &result))
	require.Equal(t, "Trips", result.Refused[0].Name)
	require.Contains(t, result.Refused[0].Reason, "exists or conflicts")
}
