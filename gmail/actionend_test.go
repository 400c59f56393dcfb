package gmail

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
)

// What was enqueued when the account was removed, or since, is pointless, and has not failed.
func TestJobsOfARemovedAccountAreCanceled(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.cfg.Topic = "projects/p/topics/t"
		message, m := w.letter(worldtest.Question)
		archive := w.queued(postroom.Action{MessageID: message, Type: postroom.Archive})
		answer, forwarded := w.queued(worldtest.Reply(message, "Yes.")),
			w.queued(worldtest.Forward(message, "colleague@example.com"))
		require.NoError(t, RemoveAccount(t.Context(), w.store, w.queue, w.account))
		for _, job := range []queue.NewJob{
			NewIngestJob(w.account, m.ID+"0"), NewHistorySyncJob(w.account, 0), NewBackfillJob(w.account, "", ""),
			NewLabelsSyncJob(w.account),
			NewReconcileJob(w.account), NewIndexJob(w.account), NewWatchJob(w.account),
			NewUnsnoozeJob(UnsnoozePayload{AccountID: w.account, MessageID: message, ActionID: archive}, day),
			NewActionJob(w.account, archive), NewActionJob(w.account, answer), outbox.NewSendJob(w.account, forwarded),
		} {
			ended := w.job(w.run(job))
			require.Equal(t, queue.StateCanceled, ended.State, "%s: %s", ended.Type, ended.LastError)
			require.Contains(t, ended.LastError, "the mailbox was removed, and there is nothing left to do", ended.Type)
		}
		for _, id := range []string{archive, answer, forwarded} {
			require.Equal(t, postroom.ActionCanceled, w.action(id).State)
			require.Equal(t, "the mailbox was removed", w.action(id).Error)
		}
	})
}
