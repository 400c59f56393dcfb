package pipeline

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

const sends = `rules:
  - name: Tea
    condition: {type: subject_contains, value: tea}
    action: auto_reply
    authentication: not_required
    parameters: {body: "Yes."}
  - {name: Rest, condition: {type: header_present, header: From}, action: delete}
`

// asked returns a pipeline of which one person is asked about a message that it would send, as it was shown.
func (w *world) asked() (*Pipeline, postroom.Action, safety.Approval) { return w.askedBy(Config{}) }

func (w *world) askedBy(cfg Config) (*Pipeline, postroom.Action, safety.Approval) {
	w.Helper()
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: outbox.Kinds()})
	require.NoError(w, err)
	cfg.Kinds, cfg.Outbox = kinds, &outbox.Config{}
	cfg.Rules = func(context.Context, mailstore.Account) (*rulesfile.File, error) {
		return rulesfile.Parse(ada, strings.NewReader(sends), rulesfile.WithKinds(kinds))
	}
	p := w.pipeline(cfg)
	id := w.add(p, ada)
	_, err = w.server.Account(w.Context(), "eve@example.com")
	require.NoError(w, err)
	w.deliver(ada, tea)
	faults, err := p.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
	action := w.actions(p, id)[0].Action
	require.NoError(w, p.FreezeContent(w.Context(), action.ID))
	return p, action, w.shown(p, action.ID)
}

func (w *world) shown(p *Pipeline, actionID string) safety.Approval {
	w.Helper()
	waiting, err := p.Ledger.Waiting(w.Context(), actionID)
	require.NoError(w, err)
	require.NoError(w, waiting.Fault)
	return waiting.Approval
}

func (w *world) approve(p *Pipeline, shown safety.Approval) error {
	return w.db.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := p.Ledger.ApproveRequest(ctx, tx, shown, "ann")
		return err
	})
}

// What a person edits and approves is what arrives, once.
func TestTheEditedBytesAreSent(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p, action, shown := w.asked()
		next, err := p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: new("At six.")})
		require.NoError(t, err)
		require.ErrorIs(t, w.approve(p, shown), safety.ErrEdited)
		seen, err := p.Preview(t.Context(), action)
		require.NoError(t, err)
		require.Equal(t, next.ContentSHA256, seen.SHA256)
		require.Equal(t, next, w.shown(p, action.ID))
		require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])

		require.NoError(t, w.approve(p, next))
		_, err = p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		_, err = p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
		done, err := p.Ledger.Action(t.Context(), action.ID)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
		client, err := p.Clients.Client(t.Context(), action.AccountID)
		require.NoError(t, err)
		sent, err := client.GetRaw(t.Context(), done.UndoHint.SentMessageID)
		require.NoError(t, err)
		raw, err := sent.Bytes()
		require.NoError(t, err)
		require.True(t, bytes.HasSuffix(raw, seen.Raw))
		require.Contains(t, string(raw), "At six.")

		_, err = p.Edit(t.Context(), next, "ann", outbox.Edit{Text: new("At seven.")})
		require.ErrorIs(t, err, safety.ErrState)
		require.ErrorContains(t, err, "ann has approved it")
	})
}

// Of two who edit, and one who approves, at once one wins, and what it has seen or written is sent.
func TestEditsAndAnApprovalAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p, action, shown := w.asked()
		for range 3 {
			errs, texts := make([]error, 2), []string{"One.", "Two."}
			var all sync.WaitGroup
			for i, text := range texts {
				all.Go(func() { _, errs[i] = p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: &text}) })
			}
			all.Wait()
			won := texts[0]
			if errs[0] != nil {
				won, errs[0], errs[1] = texts[1], errs[1], errs[0]
			}
			require.NoError(t, errs[0])
			require.ErrorIs(t, errs[1], safety.ErrEdited)
			seen, err := p.Preview(t.Context(), action)
			require.NoError(t, err)
			require.Equal(t, won, seen.Note)
			shown = w.shown(p, action.ID)
			require.Equal(t, seen.SHA256, shown.ContentSHA256)
			_, err = p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: new("Again.")})
			require.NoError(t, err)
			shown = w.shown(p, action.ID)
		}
		var edited, approved error
		var all sync.WaitGroup
		all.Go(func() { _, edited = p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: new("Late.")}) })
		all.Go(func() { approved = w.approve(p, shown) })
		all.Wait()
		if approved == nil {
			require.ErrorIs(t, edited, safety.ErrState)
		} else {
			require.ErrorIs(t, approved, safety.ErrEdited)
			require.NoError(t, edited)
			require.NoError(t, w.approve(p, w.shown(p, action.ID)))
		}
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, w.server.Counts()[gmailtest.MessagesSend])
	})
}

func TestWhatSendsNothingIsNotEdited(t *testing.T) {
	w := newWorld(t)
	p, action, shown := w.asked()
	w.deliver(ada, "From: eve@example.com\r\nTo: ada@example.org\r\nSubject: x\r\n\r\nNow?\r\n")
	w.backfill(p, action.AccountID)
	_, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	deletes := w.actions(p, action.AccountID)[0].Action
	require.Equal(t, postroom.Delete, deletes.Type)
	_, err = p.Edit(t.Context(), w.shown(p, deletes.ID), "ann", outbox.Edit{Text: new("x")})
	require.ErrorIs(t, err, ErrSendsNothing)
	shown.ActionID = "none"
	_, err = p.Edit(t.Context(), shown, "ann", outbox.Edit{Text: new("x")})
	require.ErrorIs(t, err, postroom.ErrNotFound)
}
