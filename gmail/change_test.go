package gmail

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

// What a person does between two attempts of an action is not the action's, unless the first may have done it.
func TestWhoHasArchivedBetweenAttempts(t *testing.T) {
	busy := gmailtest.Fault{Method: gmailtest.MessagesModify, Status: http.StatusTooManyRequests, RetryAfter: time.Second}
	broken := gmailtest.Fault{Method: gmailtest.MessagesModify, Status: http.StatusServiceUnavailable}
	second := busy
	second.Nth = 2
	for _, tt := range []struct {
		name   string
		faults []gmailtest.Fault
		ours   bool
	}{
		{"refused", []gmailtest.Fault{busy}, false},
		{"refused twice", []gmailtest.Fault{busy, second}, false},
		{"unclear", []gmailtest.Fault{broken}, true},
		{"unclear, then refused", []gmailtest.Fault{broken, second}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known("INBOX", "UNREAD")
			w.server.Fault(tt.faults...)
			asked := 0
			w.wire.After = func(r *http.Request, _ *http.Response) {
				if !strings.HasSuffix(r.URL.Path, "/modify") {
					return
				}
				if asked++; asked == len(tt.faults) {
					require.NoError(t, w.server.Person().Archive(t.Context(), providerID))
				}
			}
			job, action := w.act(message, postroom.Archive, "")
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, tt.ours, action.UndoHint.Before.Has(postroom.LabelInbox))
			atGmail, here := w.labels(providerID)
			require.Equal(t, []string{"UNREAD"}, atGmail)
			if tt.ours {
				require.Equal(t, atGmail, here)
			}
		})
	}
}
