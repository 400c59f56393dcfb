package gmail

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/queue"
)

// The process dies after the effect, and a person takes it back before the next attempt: what they did stays, and what
// they did not touch is done.
func TestARepeatedActionLeavesWhatAPersonHasTakenBack(t *testing.T) {
	tests := map[string]struct {
		action        postroom.ActionType
		before, after []string
		person        func(w *world, id string)
	}{
		"archive, moved to the inbox again": {postroom.Archive, []string{"INBOX", "UNREAD"}, []string{"INBOX", "UNREAD"},
			func(w *world, id string) { w.modify(id, add("INBOX")) }},
		"star, taken away": {postroom.Star, []string{"INBOX"}, []string{"INBOX"},
			func(w *world, id string) { w.modify(id, remove("STARRED")) }},
		"trash, taken out": {postroom.Trash, []string{"UNREAD"}, []string{"UNREAD"}, func(w *world, id string) {
			_, err := w.google.Users.Messages.Untrash("me", id).Do()
			require.NoError(w.t, err)
		}},
		"archive, and another label": {postroom.Archive, []string{"INBOX"}, []string{"STARRED"},
			func(w *world, id string) { w.modify(id, add("STARRED")) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			eachWorld(t, func(t *testing.T, w *world) {
				message, providerID := w.known(tt.before...)
				w.arrive(worldtest.Question, "INBOX")
				w.synced()
				require.NoError(t, w.server.ForgetHistory(t.Context())) // the message was not changed for a week
				var commits atomic.Int32
				w.ledger.Completing = func() error {
					if commits.Add(1) > 1 {
						return nil
					}
					tt.person(w, providerID)
					return errors.New("the process dies here")
				}
				job, action := w.act(message, tt.action, "")
				require.Equal(t, queue.StateCompleted, job.State, job.LastError)
				require.EqualValues(t, 2, commits.Load())
				atGmail, _ := w.labels(providerID)
				require.Equal(t, tt.after, atGmail)
				require.Equal(t, tt.before, action.UndoHint.Before.LabelIDs)
				require.Equal(t, tt.after, action.UndoHint.After.LabelIDs)
				w.run(NewHistorySyncJob(w.account, 0))
				_, here := w.labels(providerID)
				require.Equal(t, tt.after, here)
			})
		})
	}
}

// An attempt that died before it reached Gmail is made up for, whatever a person has done to other labels since.
func TestARepeatedActionDoesWhatNobodyHasDone(t *testing.T) {
	w := newWorld(t)
	message, providerID := w.known("INBOX", "UNREAD")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutBefore})
	var once sync.Once
	w.wire.Failed = func(*http.Request, error) { once.Do(func() { w.modify(providerID, remove("UNREAD")) }) }
	job, _ := w.act(message, postroom.Archive, "")
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, job.Failures)
	atGmail, _ := w.labels(providerID)
	require.Empty(t, atGmail)
}
