package gmail

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

// TestTheSnoozeLabelIsDeletedAmidASnooze: it is made again, and the wake-up names the new one.
func TestTheSnoozeLabelIsDeletedAmidASnooze(t *testing.T) {
	deleteIt := func(w *world) {
		labels, err := w.google.Users.Labels.List("me").Do()
		require.NoError(w.t, err)
		for _, l := range labels.Labels {
			if l.Name == "Postroom/Snoozed" {
				require.NoError(w.t, w.google.Users.Labels.Delete("me", l.Id).Do())
			}
		}
	}
	for name, when := range map[string]func(w *world, once func()){
		"between two attempts": func(w *world, once func()) {
			w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Status: http.StatusServiceUnavailable})
			w.wire.After = func(_ *http.Request, answer *http.Response) {
				if answer.StatusCode == http.StatusServiceUnavailable {
					once()
				}
			}
		},
		"before the change": func(w *world, once func()) {
			w.wire.Before = func(r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/modify") {
					once()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				require.NoError(t, w.queue.Pause(t.Context(), naps))
				message, providerID := w.known("INBOX")
				when(w, sync.OnceFunc(func() { deleteIt(w) }))
				done := w.snooze(message)
				require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
				w.wire.Before, w.wire.After = nil, nil

				label, _ := done.UndoHint.InverseParameters.Text(paramSnoozeLabel)
				atGmail, _ := w.labels(providerID)
				require.Equal(t, []string{label}, atGmail)
				require.Equal(t, map[queue.State]int{queue.StateQueued: 1, queue.StateCanceled: 1}, w.jobs(string(JobUnsnooze)))
				wake := w.job(done.UndoHint.InverseParameters[postroom.ParamCancelJob].(string))
				require.Equal(t, queue.StateQueued, wake.State)
				require.Contains(t, string(wake.Payload), label)
				w.morning()
				atGmail, _ = w.labels(providerID)
				require.Equal(t, []string{"INBOX"}, atGmail)
			})
		})
	}
}
