package outbox_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func (w *world) refusal(r *outbox.Refusals, a postroom.Action, msg *postroom.Message) (why string, failed bool) {
	w.t.Helper()
	write(w.t, w.store, func(ctx context.Context, tx queue.Tx) (err error) {
		why, failed, err = r.Refusal(ctx, tx, w.account, msg, a.Type, a.Parameters)
		return err
	})
	return why, failed
}

// What the job would refuse for what the message says is known when it is decided, before anybody is asked.
func TestRefusalsAreKnownWhenDecided(t *testing.T) {
	with := func(field string) string { return field + "\r\n" + worldtest.Question }
	answer := worldtest.Reply("", "Yes.")
	to := func(a postroom.Action, to any) postroom.Action {
		a.Parameters["to"] = to
		return a
	}
	w := newWorld(t)
	w.cfg.Outbox.MaxRecipients = 3
	refusals, err := outbox.NewRefusals(outbox.RefusalsConfig{Store: w.store, MaxRecipients: 3,
		Names: map[string]string{"MaxRecipients": "outbound.max"}})
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		raw    string
		action postroom.Action
		why    string
	}{
		"reply to no-reply":                     {strings.Replace(worldtest.Question, "ann@", "no-reply@", 1), answer, "the original was sent by a program or to many (unattended"},
		"reply to an automatic reply":           {with("Auto-Submitted: auto-replied"), answer, "auto_reply: Auto-Submitted"},
		"reply to a list":                       {with("List-Id: <tea.example.com>"), answer, "gets no automatic reply"},
		"reply to the mailbox itself":           {strings.Replace(worldtest.Question, "ann@", "you+tag@", 1), answer, "own address"},
		"reply to an unattended Reply-To":       {with("Reply-To: noreply@example.com"), answer, "nobody reads mail to noreply@example.com"},
		"reply to a Reply-To at another domain": {with("Reply-To: ann@mallory.example"), answer, `name it in the parameter "to"`},
		"reply to too many":                     {worldtest.Question, to(worldtest.Reply("", "Yes."), manyAddresses(4)), "it has 4 recipients; at most 3 are allowed (outbound.max)"},
		"forward to the sender":                 {worldtest.Question, worldtest.Forward("", "ann@example.com"), "is the sender of the original"},
		"forward that has come back":            {with("X-Loop: you@example.com"), worldtest.Forward("", "bob@example.com"), "has come back"},
		"forward to no domain":                  {worldtest.Question, worldtest.Forward("", "bob@ex\u00a1mple.\u2024com"), "a recipient: "},

		"reply":                     {worldtest.Question, answer, ""},
		"reply to another address":  {with("Reply-To: ann@mallory.example"), to(worldtest.Reply("", "Yes."), "ann@mallory.example"), ""},
		"forward of automatic mail": {with("Auto-Submitted: auto-generated"), worldtest.Forward("", "bob@example.com"), ""},
		"archive of automatic mail": {with("Auto-Submitted: auto-generated"), postroom.Action{Type: postroom.Archive}, ""},
		"delete":                    {worldtest.Question, postroom.Action{Type: postroom.Delete}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := w.server.Deliver(t.Context(), []byte(tc.raw))
			require.NoError(t, err)
			w.run(gmail.NewIngestJob(w.account, m.ID))
			msg, err := w.store.Message(t.Context(), w.account, w.ours(m.ID))
			require.NoError(t, err)
			why, failed := w.refusal(refusals, tc.action, msg)
			require.False(t, failed, "it is as it should be")
			if tc.why == "" {
				require.Empty(t, why)
				return
			}
			require.Contains(t, why, tc.why)
			require.NotContains(t, why, "action", "it names no action, of which there is none yet")
			why, _ = w.refusal(refusals, tc.action, nil)
			require.Empty(t, why, "what the message says was looked at before")

			tc.action.MessageID = msg.ID
			a, sent := w.carryOut(tc.action)
			require.Equal(t, postroom.ActionFailed, a.State, "the guard at sending stays")
			require.Nil(t, sent)
		})
	}
	require.Zero(t, w.server.Counts()[gmailtest.MessagesSend])
}

// Accounts differ in what was granted; the host says what deleting needs.
func TestWhoMayDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorldOn(t, db)
		const full = "https://mail.example.com/"
		refusals, err := outbox.NewRefusals(outbox.RefusalsConfig{Store: w.store, MayDelete: func(a mailstore.Account) error {
			if slices.Contains(a.Scopes, full) {
				return nil
			}
			return errors.New(a.Email + " may not")
		}})
		require.NoError(t, err)
		forever := postroom.Action{Type: postroom.Delete}
		require.Nil(t, getAccount(t, w.store, w.account).Scopes)
		for _, msg := range []*postroom.Message{nil, {AccountID: w.account}} {
			why, failed := w.refusal(refusals, forever, msg)
			require.Equal(t, "you@example.com may not", why)
			require.True(t, failed, "somebody has to sign in again")
		}
		why, _ := w.refusal(refusals, postroom.Action{Type: postroom.Trash}, nil)
		require.Empty(t, why)

		other := ensureAccount(t, w.store, "other@example.com")
		set := func(account string, scopes ...string) error {
			return w.store.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				return w.store.SetScopes(ctx, tx, account, scopes)
			})
		}
		require.NoError(t, set(w.account, "openid", full))
		require.NoError(t, set(other, "openid"))
		require.Equal(t, []string{"openid", full}, getAccount(t, w.store, w.account).Scopes)
		why, _ = w.refusal(refusals, forever, nil)
		require.Empty(t, why)
		w.account = other
		why, _ = w.refusal(refusals, forever, nil)
		require.Equal(t, "other@example.com may not", why)
		require.NoError(t, set(other))
		require.Nil(t, getAccount(t, w.store, other).Scopes)
		require.ErrorIs(t, set("nobody"), postroom.ErrNotFound)

		w.account = "gone"
		why, _ = w.refusal(refusals, forever, nil)
		require.Empty(t, why, "its jobs are canceled")
	})
}

func getAccount(t *testing.T, s *mailstore.Store, id string) mailstore.Account {
	t.Helper()
	account, err := s.Account(t.Context(), id)
	require.NoError(t, err)
	return account
}
