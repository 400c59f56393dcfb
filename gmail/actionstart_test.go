package gmail

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/queue"
)

// alone makes actions such as no person has approved, and asks confirm about them.
func (w *world) alone(confirm func(msg *postroom.Message, p postroom.Permit) (string, error)) {
	w.ledger.Unattended = true
	w.cfg.Confirm = func(_ context.Context, msg *postroom.Message, p postroom.Permit) (string, error) {
		return confirm(msg, p)
	}
}

// TestWhatCannotBeTakenBackIsDecidedAboutAgain: with the message as Gmail has it, and not with the one that is stored.
func TestWhatCannotBeTakenBackIsDecidedAboutAgain(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		var asked []*postroom.Message
		var permits []postroom.Permit
		answer, failure := "no rule matches", error(nil)
		w.alone(func(msg *postroom.Message, p postroom.Permit) (string, error) {
			asked, permits = append(asked, msg), append(permits, p)
			return answer, failure
		})
		bob := worldtest.OpenInbox(t, w.server, "bob@example.com")
		message, m := w.letter(worldtest.Question)
		w.exec(`UPDATE messages SET subject = 'Win a prize', from_email = 'mallory@example.com' WHERE id = $1`, message)

		for _, a := range []postroom.Action{{MessageID: message, Type: postroom.Delete},
			worldtest.Forward(message, "bob@example.com")} {
			a.ProviderMessageID = m.ID
			id := w.queued(a)
			first := w.run(NewActionJob(w.account, id))
			done := w.action(id)
			require.Equal(t, postroom.ActionPendingApproval, done.State)
			require.Equal(t, `the message at Gmail, from `+asked[0].From.String()+
				` with the subject "Tea?", is not what was decided about: no rule matches`, done.Error)
			require.Equal(t, queue.StateCompleted, w.job(first).State, "the key is free")
		}
		require.Len(t, asked, 2)
		for i, msg := range asked {
			require.Equal(t, []string{"Tea?", message, m.ID}, []string{msg.Subject, msg.ID, msg.ProviderID})
			require.NotEqual(t, "mallory@example.com", msg.From.Email)
			require.Equal(t, m.ID, permits[i].Action.ProviderMessageID)
		}

		failure = errors.New("the rules cannot be read")
		id := w.queued(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
		require.Equal(t, queue.StateFailed, w.job(w.run(NewActionJob(w.account, id))).State)
		require.Equal(t, postroom.ActionFailed, w.action(id).State)
		got, _ := bob.Got()
		require.Empty(t, got)
		require.Zero(t, w.server.Counts()[gmailtest.MessagesDelete])

		answer, failure = "", nil
		sent, _ := w.carryOut(postroom.Action{MessageID: message, Type: postroom.Forward, ProviderMessageID: m.ID,
			Parameters: worldtest.Forward(message, "bob@example.com").Parameters})
		require.Equal(t, postroom.ActionCompleted, sent.State)
		require.Equal(t, "Fwd: Tea?", bob.One().Subject)
		deleted, _ := w.carryOut(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
		require.Equal(t, postroom.ActionCompleted, deleted.State)
		n := len(asked)
		gone, _ := w.carryOut(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
		require.Equal(t, postroom.ActionFailed, gone.State)
		require.Len(t, asked, n, "it is gone from Gmail")
	})
}

// TestWhatNobodyCanDecideAboutAgainWaits, and so does what does not say which message it is about. What can be taken
// back does not.
func TestWhatNobodyCanDecideAboutAgainWaits(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	w.ledger.Unattended = true
	done, _ := w.carryOut(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
	require.Equal(t, postroom.ActionPendingApproval, done.State)
	require.Contains(t, done.Error, "nothing is configured that decides about the message at Gmail again")
	w.alone(func(*postroom.Message, postroom.Permit) (string, error) { return "", nil })
	done, _ = w.carryOut(postroom.Action{MessageID: message, Type: postroom.Delete})
	require.Equal(t, postroom.ActionPendingApproval, done.State)
	require.Contains(t, done.Error, "the decision does not say which message at Gmail it is about")
	w.cfg.Confirm = nil
	done, _ = w.carryOut(postroom.Action{MessageID: message, Type: postroom.Trash, ProviderMessageID: m.ID})
	require.Equal(t, postroom.ActionCompleted, done.State)
}

// TestWhatIsAlteredWhileItIsLookedAtDoesNotStart: the ledger vouches for the action when it starts, and not when its
// decision is read.
func TestWhatIsAlteredWhileItIsLookedAtDoesNotStart(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	w.alone(func(*postroom.Message, postroom.Permit) (string, error) { return "", nil })
	w.ledger.Unverified = true
	id := w.queued(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
	job := w.job(w.run(NewActionJob(w.account, id)))
	require.Equal(t, queue.StateFailed, job.State)
	require.Contains(t, job.LastError, "something alters it at this moment")
	require.Equal(t, postroom.ActionQueued, w.action(id).State)
	require.Zero(t, w.server.Counts()[gmailtest.MessagesDelete])
}

// TestLabelsThatWereOursAreLeftOut: the message is shown with the labels that it had before.
func TestLabelsThatWereOursAreLeftOut(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	before := postroom.NewSnapshot([]string{postroom.LabelInbox, postroom.LabelUnread})
	w.ledger.Before = &before
	var labels, now []string
	w.alone(func(msg *postroom.Message, p postroom.Permit) (string, error) {
		labels, now = msg.LabelIDs, p.LabelsNow
		return "", nil
	})
	w.act(message, postroom.Archive, "")
	w.act(message, postroom.MarkRead, "")
	w.act(message, postroom.Star, "")
	done, _ := w.carryOut(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
	require.Equal(t, postroom.ActionCompleted, done.State)
	require.Equal(t, before.LabelIDs, labels)
	require.Equal(t, []string{postroom.LabelStarred}, now, "and they are said as well")
}

// TestWhatADeadActionHasLeftIsHeldAllTheSame: one whose job has ended changes the message no more.
func TestWhatADeadActionHasLeftIsHeldAllTheSame(t *testing.T) {
	w := newWorld(t)
	message, m := w.letter(worldtest.Question)
	w.alone(func(*postroom.Message, postroom.Permit) (string, error) { return "no rule matches", nil })
	dead := w.queued(postroom.Action{MessageID: message, Type: postroom.Archive})
	write(t, w.store, func(ctx context.Context, tx queue.Tx) error {
		_, err := w.ledger.Start(ctx, tx, dead, "a job that is gone")
		return err
	})
	id := w.queued(postroom.Action{MessageID: message, Type: postroom.Delete, ProviderMessageID: m.ID})
	job := w.job(w.run(NewActionJob(w.account, id)))
	require.Equal(t, queue.StateCompleted, job.State, job.LastError)
	require.Equal(t, postroom.ActionPendingApproval, w.action(id).State)
}
