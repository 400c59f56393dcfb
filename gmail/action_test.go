package gmail

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/attempts"
	"github.com/postroom-go/postroom/queue"
)

func TestActions(t *testing.T) {
	const label = "{label}" // stands for the id of a label that the user made
	tests := []struct {
		name    string
		before  []string
		action  postroom.ActionType
		label   string
		after   []string
		inverse postroom.ActionType
		params  postroom.Parameters
	}{
		{"archive", []string{"INBOX", "UNREAD"}, postroom.Archive, "", []string{"UNREAD"}, postroom.ApplyLabel, postroom.Parameters{"label": "INBOX"}},
		{"archive what is not in the inbox", []string{"UNREAD"}, postroom.Archive, "", []string{"UNREAD"}, postroom.ApplyLabel, postroom.Parameters{"label": "INBOX"}},
		{"apply label", []string{"INBOX"}, postroom.ApplyLabel, label, []string{"INBOX", label}, postroom.RemoveLabel, postroom.Parameters{"label": label}},
		{"apply label that is there", []string{"INBOX", label}, postroom.ApplyLabel, label, []string{"INBOX", label}, postroom.RemoveLabel, postroom.Parameters{"label": label}},
		{"remove label", []string{"INBOX", label}, postroom.RemoveLabel, label, []string{"INBOX"}, postroom.ApplyLabel, postroom.Parameters{"label": label}},
		{"move", []string{"INBOX", "UNREAD"}, postroom.Move, label, []string{label, "UNREAD"}, postroom.Move, postroom.Parameters{"label": "INBOX", "remove_labels": []any{label}}},
		{"move to the inbox", []string{"UNREAD"}, postroom.Move, "INBOX", []string{"INBOX", "UNREAD"}, postroom.Move, postroom.Parameters{"label": "INBOX", "remove_labels": []any{"INBOX"}}},
		{"mark read", []string{"INBOX", "UNREAD"}, postroom.MarkRead, "", []string{"INBOX"}, postroom.MarkUnread, nil},
		{"mark unread", []string{"INBOX"}, postroom.MarkUnread, "", []string{"INBOX", "UNREAD"}, postroom.MarkRead, nil},
		{"star", []string{"INBOX"}, postroom.Star, "", []string{"INBOX", "STARRED"}, postroom.Unstar, nil},
		{"unstar", []string{"INBOX", "STARRED"}, postroom.Unstar, "", []string{"INBOX"}, postroom.Star, nil},
		{"trash", []string{"INBOX", "UNREAD"}, postroom.Trash, "", []string{"TRASH", "UNREAD"}, postroom.Restore, nil},
		{"restore", []string{"TRASH", "UNREAD"}, postroom.Restore, "", []string{"UNREAD"}, postroom.Trash, nil},
		{"restore what is not in the trash", []string{"INBOX"}, postroom.Restore, "", []string{"INBOX"}, postroom.Trash, nil},
		{"apply the label of the trash", []string{"INBOX"}, postroom.ApplyLabel, "TRASH", []string{"TRASH"}, postroom.RemoveLabel, postroom.Parameters{"label": "TRASH"}},
	}
	w := newWorld(t)
	id := w.userLabel("Bills")
	actual := func(labels []string) []string {
		out := slices.Clone(labels)
		for i := range out {
			if out[i] == label {
				out[i] = id
			}
		}
		slices.Sort(out)
		return out
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			message, providerID := w.known(actual(tt.before)...)
			changes := func() int {
				counts := w.server.Counts()
				return counts[gmailtest.MessagesModify] + counts[gmailtest.MessagesTrash] + counts[gmailtest.MessagesUntrash]
			}
			earlier := changes()
			job, action := w.act(message, tt.action, actual([]string{tt.label})[0])
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, postroom.ActionCompleted, action.State)

			atGmail, here := w.labels(providerID)
			require.Equal(t, actual(tt.after), atGmail)
			require.Equal(t, actual(tt.after), here)

			hint := action.UndoHint
			require.Equal(t, actual(tt.before), hint.Before.LabelIDs)
			require.Equal(t, actual(tt.after), hint.After.LabelIDs)
			require.Equal(t, tt.inverse, hint.InverseAction)
			for name, want := range tt.params {
				if want == label {
					want = id
				}
				if list, ok := want.([]any); ok && list[0] == label {
					want = []any{id}
				}
				require.Equal(t, want, hint.InverseParameters[name])
			}
			require.Len(t, hint.InverseParameters, len(tt.params))
			require.True(t, hint.Undoable())
			if slices.Equal(actual(tt.before), actual(tt.after)) {
				require.Equal(t, earlier, changes(), "Gmail is not asked to change nothing")
			}
		})
	}
}

func TestNoneDoesNothing(t *testing.T) {
	w := newWorld(t)
	message, providerID := w.known("INBOX")
	calls := len(w.server.Calls())
	job, action := w.act(message, postroom.None, "")
	require.Equal(t, queue.StateCompleted, job.State)
	require.Equal(t, postroom.ActionCompleted, action.State)
	require.Equal(t, &postroom.UndoHint{InverseAction: postroom.None}, action.UndoHint)
	require.Len(t, w.server.Calls(), calls)
	_, here := w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, here)
}

func TestDelete(t *testing.T) {
	w := newWorld(t)
	message, providerID := w.known("INBOX")
	job, action := w.act(message, postroom.Delete, "")
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	w.requireDeleted(action, providerID)
}

func (w *world) requireDeleted(action postroom.Action, providerID string) {
	w.t.Helper()
	require.Equal(w.t, postroom.ActionCompleted, action.State, action.Error)
	require.True(w.t, action.UndoHint.Irreversible)
	require.False(w.t, action.UndoHint.Undoable())
	require.Equal(w.t, []string{"INBOX"}, action.UndoHint.Before.LabelIDs)
	_, err := w.client.GetImage(w.t.Context(), providerID)
	require.ErrorIs(w.t, err, postroom.ErrMessageGone)
	n, err := w.store.CountMessages(w.t.Context(), w.account)
	require.NoError(w.t, err)
	require.Zero(w.t, n)
}

// The answer to a change is lost after it took effect: the retry keeps the first image from before, and the action is
// in the ledger once.
func TestAnswerLostAfterTheEffect(t *testing.T) {
	tests := []struct {
		name   string
		action postroom.ActionType
		method gmailtest.Method
		before []string
		after  []string
	}{
		{"archive", postroom.Archive, gmailtest.MessagesModify, []string{"INBOX", "UNREAD"}, []string{"UNREAD"}},
		{"star", postroom.Star, gmailtest.MessagesModify, []string{"INBOX"}, []string{"INBOX", "STARRED"}},
		{"trash", postroom.Trash, gmailtest.MessagesTrash, []string{"INBOX"}, []string{"TRASH"}},
		{"restore", postroom.Restore, gmailtest.MessagesUntrash, []string{"TRASH", "UNREAD"}, []string{"UNREAD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known(tt.before...)
			w.server.Fault(gmailtest.Fault{Method: tt.method, Cut: gmailtest.CutAfter})
			job, action := w.act(message, tt.action, "")
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, 1, job.Failures)
			require.Equal(t, 1, w.server.Counts()[tt.method], "the history says that it is done")
			require.Equal(t, tt.before, action.UndoHint.Before.LabelIDs)
			require.Equal(t, tt.after, action.UndoHint.After.LabelIDs)
			atGmail, here := w.labels(providerID)
			require.Equal(t, tt.after, atGmail)
			require.Equal(t, tt.after, here)
		})
	}
}

func TestDeleteWhoseAnswerIsLost(t *testing.T) {
	w := newWorld(t)
	message, providerID := w.known("INBOX")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesDelete, Cut: gmailtest.CutAfter})
	job, action := w.act(message, postroom.Delete, "")
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, 1, job.Failures)
	w.requireDeleted(action, providerID)
}

// The process dies, or the database fails, between Gmail's answer and the commit.
func TestCommitFailsAfterTheEffect(t *testing.T) {
	for _, action := range []postroom.ActionType{postroom.Archive, postroom.Delete} {
		t.Run(string(action), func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known("INBOX")
			var commits atomic.Int32
			w.ledger.Completing = func() error {
				if commits.Add(1) == 1 {
					return errors.New("disk full")
				}
				return nil
			}
			reads := w.server.Counts()[gmailtest.MessagesGet]
			job, done := w.act(message, action, "")
			require.Equal(t, queue.StateCompleted, job.State, job.LastError)
			require.Equal(t, postroom.ActionCompleted, done.State)
			require.Equal(t, []string{"INBOX"}, done.UndoHint.Before.LabelIDs)
			require.EqualValues(t, 2, commits.Load())
			reads++ // the image from before, once
			if action == postroom.Archive {
				reads++ // what has become of it since
			}
			require.Equal(t, reads, w.server.Counts()[gmailtest.MessagesGet])
			if action == postroom.Delete {
				w.requireDeleted(done, providerID)
			}
		})
	}
}

func TestActionOnAMessageThatIsGone(t *testing.T) {
	for _, action := range []postroom.ActionType{postroom.Archive, postroom.Delete} {
		t.Run(string(action), func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known("INBOX")
			require.NoError(t, w.google.Users.Messages.Delete("me", providerID).Do())
			job, done := w.act(message, action, "")
			require.Equal(t, queue.StateFailed, job.State)
			require.Equal(t, 1, job.Attempt, "no retry brings it back")
			require.Equal(t, postroom.ActionFailed, done.State)
			require.Contains(t, done.Error, "message gone (404 notFound)")
			n, err := w.store.CountMessages(t.Context(), w.account)
			require.NoError(t, err)
			require.Zero(t, n, "it is known to be gone here as well")
		})
	}
}

// The message vanishes between the image from before and the first attempt to delete it: that was not us.
func TestDeleteThatSomeoneElseDid(t *testing.T) {
	w := newWorld(t)
	message, _ := w.known("INBOX")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesDelete, Status: 404})
	job, done := w.act(message, postroom.Delete, "")
	require.Equal(t, queue.StateFailed, job.State)
	require.Equal(t, postroom.ActionFailed, done.State)
}

func TestActionsThatFail(t *testing.T) {
	tests := []struct {
		name     string
		action   postroom.ActionType
		label    string
		fault    gmailtest.Fault
		attempts int
		reason   string
	}{
		{"forbidden", postroom.Archive, "", gmailtest.Fault{Method: gmailtest.MessagesModify, Status: 403, Reason: "insufficientPermissions"}, 1, "sign in again"},
		{"label that Gmail does not have", postroom.ApplyLabel, "Label_404", gmailtest.Fault{Method: "none"}, 1, "Invalid label"},
		{"server that stays down", postroom.Archive, "", gmailtest.Fault{Method: gmailtest.MessagesModify, Status: 503, Times: -1}, attempts.Unattended, "server error (503"},
		{"no connection", postroom.Archive, "", gmailtest.Fault{Method: gmailtest.MessagesModify, Cut: gmailtest.CutBefore, Times: -1}, attempts.Unattended, "network error"},
		{"no label given", postroom.ApplyLabel, "", gmailtest.Fault{Method: "none"}, 1, `needs the parameter "label"`},
		{"not carried out", postroom.Escalate, "", gmailtest.Fault{Method: "none"}, 1, "action escalate: nobody carries it out here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known("INBOX")
			w.server.Fault(tt.fault)
			job, done := w.act(message, tt.action, tt.label)
			require.Equal(t, queue.StateFailed, job.State)
			require.Equal(t, tt.attempts, job.Attempt)
			require.Equal(t, postroom.ActionFailed, done.State)
			require.Contains(t, done.Error, tt.reason)
			_, here := w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, here)
		})
	}
}

func TestActionWithoutAClient(t *testing.T) {
	w := newWorld(t)
	message, _ := w.known("INBOX")
	w.cfg.Clients = gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) {
		return nil, errors.New("no token")
	})
	job, done := w.act(message, postroom.Archive, "")
	require.Equal(t, queue.StateFailed, job.State)
	require.Equal(t, attempts.Unattended, job.Attempt)
	require.Equal(t, postroom.ActionFailed, done.State)
	require.Contains(t, done.Error, "no token")
}

func TestRateLimitSpendsNoAttempt(t *testing.T) {
	w := newWorld(t)
	message, _ := w.known("INBOX")
	w.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesModify, Status: 429, RetryAfter: time.Second})
	job, done := w.act(message, postroom.Archive, "")
	require.Equal(t, queue.StateCompleted, job.State)
	require.Zero(t, job.Failures)
	require.Equal(t, 1, job.Interruptions)
	require.Equal(t, postroom.ActionCompleted, done.State)
}

// TestAnActionThatIsHeldSpendsNoAttempt: it is carried out when it may start, and its job waits until then.
func TestAnActionThatIsHeldSpendsNoAttempt(t *testing.T) {
	w := newWorld(t)
	message, _ := w.known("INBOX")
	left := 3
	w.ledger.Holding = func() error {
		if left--; left < 0 {
			return nil
		}
		return &postroom.HeldError{Reason: "stopped by ann", Until: time.Now().Add(time.Millisecond)}
	}
	job, done := w.act(message, postroom.Archive, "")
	require.Equal(t, queue.StateCompleted, job.State)
	require.Zero(t, job.Failures)
	require.Equal(t, 3, job.Interruptions)
	require.Equal(t, postroom.ActionCompleted, done.State)
}

func TestActionThatIsNotToBeDone(t *testing.T) {
	tests := []struct {
		state postroom.ActionState
		want  queue.State
	}{
		{postroom.ActionCanceled, queue.StateCompleted},
		{postroom.ActionRejected, queue.StateCompleted},
		{postroom.ActionCompleted, queue.StateCompleted},
		{postroom.ActionPendingApproval, queue.StateCompleted},
		{postroom.ActionFailed, queue.StateFailed},
		{postroom.ActionExecuting, queue.StateFailed}, // by another job
	}
	for _, tt := range tests {
		t.Run(string(tt.state), func(t *testing.T) {
			w := newWorld(t)
			message, providerID := w.known("INBOX")
			id := w.queued(postroom.Action{MessageID: message, Type: postroom.Archive})
			a := w.action(id)
			a.State = tt.state
			write(t, w.store, func(ctx context.Context, tx queue.Tx) error { return w.ledger.Put(ctx, tx, a) })

			job := w.job(w.run(NewActionJob(w.account, id)))
			require.Equal(t, tt.want, job.State)
			if tt.want == queue.StateCompleted {
				require.JSONEq(t, `{"skipped":"the action is `+string(tt.state)+`"}`, string(job.Result))
			}
			require.Equal(t, tt.state, w.action(id).State)
			atGmail, _ := w.labels(providerID)
			require.Equal(t, []string{"INBOX"}, atGmail)
		})
	}
}

func TestActionThatIsNotOurs(t *testing.T) {
	w := newWorld(t)
	message, _ := w.known("INBOX")
	tests := []struct {
		name, action, reason string
	}{
		{"unknown", "no-such-action", "not found"},
		{"another account's", w.queued(postroom.Action{AccountID: "another", MessageID: message, Type: postroom.Archive}), "is of account another"},
		{"unknown message", w.queued(postroom.Action{MessageID: "no-such-message", Type: postroom.Archive}), "no-such-message"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := w.job(w.run(NewActionJob(w.account, tt.action)))
			require.Equal(t, queue.StateFailed, job.State)
			require.Equal(t, 1, job.Attempt)
			require.Contains(t, job.LastError, tt.reason)
		})
	}
	require.Equal(t, postroom.ActionQueued, w.action(tests[1].action).State)
	require.Equal(t, postroom.ActionFailed, w.action(tests[2].action).State)
}

// TestTheBuiltinKindsAreThoseCarriedOut: what the words promise and what the jobs do is one list.
func TestTheBuiltinKindsAreThoseCarriedOut(t *testing.T) {
	var kinds *postroom.Kinds
	for _, a := range kinds.Types() {
		kind, err := (&jobs{}).kindOf(
			postroom.Action{Type: a, Parameters: postroom.Parameters{"label": "Label_1", "amount": 1, "units": "days"}})
		require.NoError(t, err, a)
		if kind.Effect == nil {
			require.Contains(t, []postroom.ActionType{postroom.None, postroom.Delete}, a)
			continue
		}
		e := kind.Effect(postroom.Parameters{"label": "Label_1"})
		require.NoError(t, kinds.Check(e.Inverse, e.InverseParameters, time.Time{}), "the inverse of %s is complete", a)
	}
}
