package undo_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// A house is a Gmail and what sorts it: the real client, ledger and jobs.
type house struct {
	*testing.T
	server  *gmailtest.Server
	store   *mailstore.Store
	queue   *queue.Queue
	ledger  *safety.Ledger
	undoer  *undo.Undoer
	account string
	gmail   gmail.Config
	undo    undo.Config
}

func newHouse(t *testing.T) *house { return newHouseOf(t, nil) }

// newHouseOf is newHouse with kinds of actions of the host's own.
func newHouseOf(t *testing.T, kinds *postroom.Kinds) *house {
	return newHouseIn(t, dbtest.SQLite(t), kinds)
}

func newHouseIn(t *testing.T, db queue.DB, kinds *postroom.Kinds) *house {
	h := &house{T: t, server: gmailtest.NewServer(t)}
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, mailstore.Migrate, safety.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	var err error
	h.store, err = mailstore.New(mailstore.Config{DB: db})
	require.NoError(t, err)
	h.queue, err = queue.New(db, &queue.Config{Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1,
		Cap: time.Millisecond}})
	require.NoError(t, err)
	h.ledger, err = safety.NewLedger(
		safety.Config{DB: db, Kinds: kinds, Execute: func(ctx context.Context, tx queue.Tx, a postroom.Action) error {
			_, err := h.queue.EnqueueTx(ctx, tx, gmail.NewActionJob(a.AccountID, a.ID))
			return err
		}})
	require.NoError(t, err)
	transport := &http.Transport{DisableKeepAlives: true}
	client, err := gmailapi.NewClient(gmailapi.ClientConfig{
		Endpoint: h.server.URL(), Limits: gmailapi.Limits{Unlimited: true},
		HTTPClient: &http.Client{Transport: &oauth2.Transport{
			Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "test"}), Base: transport,
		}},
	})
	require.NoError(t, err)
	clients := gmailapi.ClientsFunc(func(context.Context, string) (*gmailapi.Client, error) { return client, nil })
	mailbox, err := gmail.NewMailbox(gmail.MailboxConfig{Store: h.store, Clients: clients})
	require.NoError(t, err)
	h.gmail = gmail.Config{Store: h.store, Clients: clients, Ledger: h.ledger, Kinds: kinds}
	h.undo = undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: mailbox, Kinds: kinds}
	// What wakes messages is not due in these tests; morning runs it.
	require.NoError(t, h.queue.Pause(t.Context(), naps))
	h.undoer, err = undo.NewUndoer(h.undo)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		h.account, err = h.store.EnsureAccount(ctx, tx, h.server.Email(), time.Time{})
		return err
	}))
	return h
}

// run works until no job is left.
func (h *house) run() { h.runWith(8) }

func (h *house) runWith(workers int) {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Exclusive: true, Workers: workers})
	require.NoError(h, err)
	require.NoError(h, gmail.Register(d, h.gmail))
	require.NoError(h, undo.Register(d, h.undo))
	require.NoError(h, d.RunUntilIdle(h.Context()))
}

// letter is a new message in the mailbox and in the store.
func (h *house) letter(subject string) (providerID string, msg *postroom.Message) {
	delivered, err := h.server.Deliver(h.Context(), []byte("From: a@example.com\nSubject: "+subject+"\n\nHello.\n"))
	require.NoError(h, err)
	_, err = h.queue.Enqueue(h.Context(), gmail.NewIngestJob(h.account, delivered.ID))
	require.NoError(h, err)
	h.run()
	own, err := h.store.MessageID(h.Context(), h.account, delivered.ID)
	require.NoError(h, err)
	msg, err = h.store.Message(h.Context(), h.account, own)
	require.NoError(h, err)
	return delivered.ID, msg
}

func (h *house) labels(providerID string) []string {
	message, err := h.server.Message(h.Context(), providerID)
	require.NoError(h, err)
	return slices.Sorted(slices.Values(message.Labels))
}

func (h *house) decide(msg *postroom.Message, action postroom.ActionType, label string) (actionID string) {
	return h.decideBy("rule-1", msg, action, label)
}

func (h *house) decideBy(rule string, msg *postroom.Message, action postroom.ActionType,
	label string) (actionID string) {
	require.NoError(h, h.queue.DB().Write(h.Context(), func(ctx context.Context, tx queue.Tx) error {
		d := postroom.Decision{
			Action: action, Confidence: 1, Rationale: "test", Source: postroom.SourceDeterministic, RuleID: rule,
			Key: uuid.NewString(),
		}
		switch {
		case action == postroom.Snooze:
			d.Parameters = postroom.Parameters{"amount": 3, "units": "days"}
		case label != "":
			d.Parameters = postroom.Parameters{postroom.ParamLabel: label}
		}
		a, err := h.ledger.Record(ctx, msg, d)(ctx, tx)
		if err == nil && a.State == postroom.ActionPendingApproval {
			_, err = h.ledger.Approve(ctx, tx, a.ID, "ann")
		}
		actionID = a.ID
		return err
	}))
	return actionID
}

// TestAPersonsHandsInsideTheRetry: the answer of an action is lost after its effect, and before it is tried again a
// person stars the message and reads it, or does the same with other labels. The undo takes back the action's own
// change, and theirs stays.
func TestAPersonsHandsInsideTheRetry(t *testing.T) {
	h := newHouse(t)
	require.NoError(t, h.server.CreateLabels(t.Context(), "Bills"))
	service, err := h.server.Service(t.Context())
	require.NoError(t, err)
	list, err := service.Users.Labels.List("me").Do()
	require.NoError(t, err)
	bills := list.Labels[len(list.Labels)-1].Id
	person, ctx := h.server.Person(), t.Context()
	star := func(id string) error { return person.Star(ctx, id) }
	read := func(id string) error { return person.Read(ctx, id) }
	for i, tc := range []struct {
		action postroom.ActionType
		label  string
		before func(id string) error // a person's, before the action
		amid   []func(id string) error
		method gmailtest.Method
		want   []string
	}{
		{action: postroom.Archive, amid: []func(string) error{star, read}, want: []string{"INBOX", "STARRED"}},
		{action: postroom.MarkRead, amid: []func(string) error{star}, want: []string{"INBOX", "STARRED", "UNREAD"}},
		{action: postroom.MarkUnread, before: read, amid: []func(string) error{star}, want: []string{"INBOX", "STARRED"}},
		{action: postroom.Star, amid: []func(string) error{read}, want: []string{"INBOX"}},
		{action: postroom.Unstar, before: star, amid: []func(string) error{read}, want: []string{"INBOX", "STARRED"}},
		{action: postroom.ApplyLabel, label: bills, amid: []func(string) error{star, read}, want: []string{"INBOX", "STARRED"}},
		{
			action: postroom.RemoveLabel, label: bills, before: func(id string) error { return person.Label(ctx, "Bills", id) },
			amid: []func(string) error{star, read}, want: []string{"Bills", "INBOX", "STARRED"},
		},
		{action: postroom.Move, label: bills, amid: []func(string) error{star, read}, want: []string{"INBOX", "STARRED"}},
		{action: postroom.Trash, amid: []func(string) error{star, read}, method: gmailtest.MessagesTrash, want: []string{"INBOX", "STARRED"}},
		{
			action: postroom.Restore, before: func(id string) error { return person.Trash(ctx, id) },
			amid: []func(string) error{star, read}, method: gmailtest.MessagesUntrash, want: []string{"STARRED", "TRASH"},
		},
		{action: postroom.Snooze, amid: []func(string) error{star, read}, want: []string{"INBOX", "STARRED"}},
		{
			action: postroom.Snooze, amid: []func(string) error{func(id string) error { return person.Trash(ctx, id) }},
			want: []string{"TRASH", "UNREAD"},
		},
		{
			action: postroom.Snooze, before: func(id string) error {
				return person.Archive(ctx, id)
			}, amid: []func(string) error{star},
			want: []string{"STARRED", "UNREAD"},
		},
		{
			action: postroom.Archive, amid: []func(string) error{func(id string) error { return person.Trash(ctx, id) }},
			want: []string{"TRASH", "UNREAD"},
		},
	} {
		t.Run(fmt.Sprintf("%d %s", i, tc.action), func(t *testing.T) {
			id, msg := h.letter(t.Name())
			if tc.before != nil {
				require.NoError(t, tc.before(id))
			}
			if tc.method == "" {
				tc.method = gmailtest.MessagesModify
			}
			gate := gmailtest.NewGate()
			h.server.Fault(gmailtest.Fault{Method: tc.method, Cut: gmailtest.CutAfter},
				gmailtest.Fault{Method: gmailtest.MessagesGet, Nth: 2, Gate: gate}) // which the next attempt reads first
			defer h.server.ClearFaults()
			done := make(chan error, 1)
			go func() {
				<-gate.Arrived()
				var err error
				for _, hand := range tc.amid {
					if err == nil {
						err = hand(id)
					}
				}
				gate.Open()
				done <- err
			}()
			action := h.decide(msg, tc.action, tc.label)
			h.run()
			require.NoError(t, <-done)
			completed, err := h.ledger.Action(ctx, action)
			require.NoError(t, err)
			require.Equal(t, postroom.ActionCompleted, completed.State, completed.Error)

			_, err = h.undoer.Request(ctx, action)
			require.NoError(t, err)
			h.run()
			require.Equal(t, tc.want, h.labels(id))
		})
	}
}

// TestConcurrentActionsOfAMessage: each takes back its own change alone, also when they were carried out side by side.
func TestConcurrentActionsOfAMessage(t *testing.T) {
	h := newHouse(t)
	for i := range 5 {
		id, msg := h.letter(fmt.Sprint("letter ", i))
		star, archive := h.decide(msg, postroom.Star, ""), h.decide(msg, postroom.Archive, "")
		h.run()
		require.Equal(t, []string{"STARRED", "UNREAD"}, h.labels(id))
		_, err := h.undoer.Request(t.Context(), star)
		require.NoError(t, err)
		h.run()
		require.Equal(t, []string{"UNREAD"}, h.labels(id), "the archive stays")
		_, err = h.undoer.Request(t.Context(), archive)
		require.NoError(t, err)
		h.run()
		require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	}
}

// TestTheMessageThatWasDecidedAbout is the one that is changed, sent on and restored, though somebody swaps Gmail's
// ids in the database.
func TestTheMessageThatWasDecidedAbout(t *testing.T) {
	h := newHouse(t)
	id, msg := h.letter("an offer")
	other, victim := h.letter("the contract")
	swap := func() {
		require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			for _, each := range [][2]string{{"x", msg.ID}, {id, victim.ID}, {other, msg.ID}} {
				if _, err := tx.ExecContext(ctx, `UPDATE messages SET provider_message_id = $1 WHERE id = $2`, each[0],
					each[1]); err != nil {
					return err
				}
			}
			return nil
		}))
		id, other = other, id
	}
	done := h.decide(msg, postroom.Archive, "")
	h.run()
	require.Equal(t, []string{"UNREAD"}, h.labels(id))
	deleted := h.decide(msg, postroom.Delete, "")
	archived := h.decide(msg, postroom.Trash, "")
	swap()
	_, err := h.undoer.Request(t.Context(), done)
	require.NoError(t, err)
	h.run()
	for _, action := range []string{deleted, archived} {
		a, err := h.ledger.Action(t.Context(), action)
		require.NoError(t, err)
		require.Equal(t, postroom.ActionFailed, a.State)
		require.Contains(t, a.Error, "it was altered there")
	}
	undos, err := h.ledger.Undos(t.Context(), done)
	require.NoError(t, err)
	require.Equal(t, postroom.ActionFailed, undos[0].State)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id), "the contract")
	require.Equal(t, []string{"UNREAD"}, h.labels(other), "the offer")
}
