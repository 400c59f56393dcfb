package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
)

// What a person does in Gmail and by undo is recorded beside what was done, once; what the pipeline does is not.
func TestCorrectionsAreRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Learn: &Learn{}, Rules: rulesOf(map[string]string{ada: archives})})
		id := w.add(p, ada)
		for i := range 4 {
			w.deliver(ada, strings.Replace(tea, "Subject: ", fmt.Sprintf("Subject: %d ", i), 1))
		}
		w.settle(p)
		done := w.actions(p, id)
		require.Len(t, done, 4)
		require.True(t, slices.ContainsFunc(p.schedules(id), func(s queue.Schedule) bool { return s.Name == "learn:"+id }))

		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		person := account.Person()
		at := func(n int) string { return done[n].Action.ProviderMessageID }
		require.NoError(t, account.CreateLabels(t.Context(), "Receipts"))
		require.NoError(t, person.MoveToInbox(t.Context(), at(0)))
		require.NoError(t, person.Read(t.Context(), at(1)))
		require.NoError(t, person.Label(t.Context(), "Receipts", at(2)))
		_, err = p.Undoer.As("ann").Request(t.Context(), done[3].Action.ID)
		require.NoError(t, err)
		w.settle(p)
		w.settle(p)
		list, err := p.Lessons.Corrections(t.Context(), id, 100)
		require.NoError(t, err)
		var said []string
		for _, c := range list {
			require.Equal(t, learn.Act{Action: postroom.Archive}, c.Proposed.Act)
			require.Equal(t, postroom.SourceDeterministic, c.Proposed.Source)
			require.NotEmpty(t, c.Proposed.RuleID)
			n := slices.IndexFunc(done, func(e safety.Entry) bool { return e.Action.ID == c.Proposed.ActionID })
			said = append(said, fmt.Sprintf("%d %s by %s: %s %v", n, c.Kind, c.By, c.Final.Action, c.Votes))
		}
		slices.Sort(said)
		require.Equal(t, []string{"0 moved_back by by hand:  true", "2 relabelled by by hand: move true",
			"3 undone by ann:  true"}, said)

		report, err := p.Lessons.Run(t.Context(), lessons.Account{ID: id, Email: ada}, time.Now())
		require.NoError(t, err)
		require.Equal(t, 3, report.Votes)
		require.NoError(t, p.RemoveAccount(t.Context(), id))
		list, err = p.Lessons.Corrections(t.Context(), id, 100)
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

// What an action has changed that is executing is its own, and so is what a wake-up or an undo has changed; the rest of
// the change is a person's.
func TestWhatAnExecutingActionChangesIsNotByHand(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Learn: &Learn{}, Rules: rulesOf(map[string]string{ada: archives})})
		id := w.add(p, ada)
		w.deliver(ada, tea)
		w.settle(p)
		a := w.actions(p, id)[0].Action
		said := func(labels []string, change postroom.LabelChange) (n int) {
			w.write(func(ctx context.Context, tx queue.Tx) error {
				return p.labelsChanged(ctx, tx, gmail.LabelsEvent{AccountID: id, MessageID: a.MessageID, Change: change,
					Labels: postroom.NewSnapshot(labels)})
			})
			list, err := p.Lessons.Corrections(t.Context(), id, 100)
			require.NoError(t, err)
			return len(list)
		}
		archived := postroom.LabelChange{Remove: []string{postroom.LabelInbox}}
		moved := postroom.LabelChange{Add: []string{postroom.LabelInbox}}
		starred := postroom.LabelChange{Add: []string{postroom.LabelStarred}, Remove: []string{postroom.LabelInbox}}
		set := func(statement string) {
			w.write(func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, statement, a.ID)
				return err
			})
		}
		for i, action := range []struct {
			set string
			own postroom.LabelChange
		}{
			{"UPDATE actions SET state = 'executing' WHERE id = $1", archived},
			{"UPDATE actions SET state = 'executing', type = 'undo_archive' WHERE id = $1", moved},
			{"UPDATE actions SET state = 'executing', type = 'snooze' WHERE id = $1", archived},
			{"UPDATE message_locks SET action_id = $1, job_id = 'wake'", moved},
		} {
			set("UPDATE actions SET state = 'completed' WHERE id = $1")
			set(action.set)
			require.Equal(t, i, said([]string{postroom.LabelUnread}, action.own), action.set)
			require.Equal(t, i+1, said([]string{postroom.LabelUnread, postroom.LabelStarred}, starred), action.set)
		}
		list, err := p.Lessons.Corrections(t.Context(), id, 1)
		require.NoError(t, err)
		require.Equal(t, learn.Act{Action: postroom.Star}, list[0].Final)
		set("UPDATE message_locks SET action_id = NULL, job_id = NULL WHERE action_id = $1")
		require.Equal(t, 5, said(nil, moved))
	})
}

// The label of snoozed messages and the buttons say nothing about where mail belongs.
func TestButtonsAreNoCorrections(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Learn: &Learn{Buttons: []string{"Postroom/Waiting"}},
			Rules: rulesOf(map[string]string{ada: archives})})
		id := w.add(p, ada)
		w.deliver(ada, tea)
		w.settle(p)
		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		require.NoError(t, account.CreateLabels(t.Context(), "Postroom/Snoozed", "Postroom/Waiting", "Postroom/Other"))
		w.settle(p)
		message := w.actions(p, id)[0].Action.ProviderMessageID
		for i, label := range []string{"Postroom/Snoozed", "Postroom/Waiting", "Postroom/Other"} {
			require.NoError(t, account.Person().Label(t.Context(), label, message))
			w.settle(p)
			list, err := p.Lessons.Corrections(t.Context(), id, 100)
			require.NoError(t, err)
			require.Len(t, list, i/2, label)
		}
		labels, err := p.labelsToLearn(t.Context(), id)
		require.NoError(t, err)
		var names []string
		for _, l := range labels {
			names = append(names, l.Name)
		}
		require.Contains(t, names, "Postroom/Other")
		require.NotContains(t, names, "Postroom/Waiting")
	})
}

// An edit and an answer are recorded, and say nothing about where mail belongs if they are about sending.
func TestAnswersAreRecorded(t *testing.T) {
	w := newWorld(t)
	p, action, shown := w.askedBy(Config{Learn: &Learn{}})
	next, err := p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: new("At six.")})
	require.NoError(t, err)
	require.NoError(t, w.approve(p, next))
	list, err := p.Lessons.Corrections(t.Context(), action.AccountID, 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	for i, kind := range []lessons.Kind{lessons.Approved, lessons.Edited} {
		require.Equal(t, []any{kind, "ann", action.ID, postroom.AutoReply, false},
			[]any{list[i].Kind, list[i].By, list[i].Proposed.ActionID, list[i].Proposed.Act.Action, list[i].Votes})
	}
}

// Without Learn nothing is recorded, and what was is removed with the account.
func TestNothingIsRecordedUnlessAsked(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: rulesOf(map[string]string{ada: archives})})
	id := w.add(p, ada)
	w.deliver(ada, tea)
	w.settle(p)
	_, err := p.Undoer.Request(t.Context(), w.actions(p, id)[0].Action.ID)
	require.NoError(t, err)
	w.settle(p)
	require.Nil(t, p.Lessons)
	var n int
	require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM feedback").Scan(&n)
	}))
	require.Zero(t, n)
}
