package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A deletion is the action delete, in the ledger, of a message that is stored.
type deletion struct {
	*world
	ledger  *worldtest.Ledger
	action  postroom.Action
	message string // Gmail's id
	came    []string
}

func newDeletion(t *testing.T, text string) *deletion {
	t.Helper()
	w := newWorld(t, dbtest.SQLite(t))
	d := &deletion{world: w, ledger: worldtest.NewLedger(t, w.db), message: w.deliver(text)[0]}
	d.work(gmail.NewIngestJob(w.account, d.message))
	stored, err := w.store.Copies().State(t.Context(), w.account, d.message)
	require.NoError(t, err)
	d.action = postroom.Action{ID: "a", AccountID: w.account, MessageID: stored.ID, ProviderMessageID: d.message,
		Type: postroom.Delete, State: postroom.ActionQueued}
	require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		return d.ledger.Put(ctx, tx, d.action)
	}))
	return d
}

// work runs jobs of package gmail, with the archive's way to delete.
func (d *deletion) work(jobs ...queue.NewJob) {
	d.Helper()
	for _, job := range jobs {
		_, err := d.queue.Enqueue(d.Context(), job)
		require.NoError(d, err)
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{d.archive.DeleteKind()}})
	require.NoError(d, err)
	dispatcher, err := queue.NewDispatcher(d.queue, &queue.DispatcherConfig{PollInterval: 20 * time.Millisecond})
	require.NoError(d, err)
	require.NoError(d, gmail.Register(dispatcher, gmail.Config{Store: d.store, Clients: d.cfg.Clients, Ledger: d.ledger,
		Kinds: kinds, Aside: d.archive.IsRestored, SkipLabels: []string{},
		OnMessage: func(_ context.Context, _ queue.Tx, m *postroom.Message) error {
			d.came = append(d.came, m.ProviderID)
			return nil
		}}))
	ctx, cancel := context.WithTimeout(d.Context(), 10*time.Minute)
	defer cancel()
	require.NoError(d, dispatcher.RunUntilIdle(ctx))
	require.NoError(d, ctx.Err())
}

func (d *deletion) carryOut() postroom.Action {
	d.Helper()
	d.work(gmail.NewActionJob(d.account, d.action.ID))
	a, err := d.ledger.Action(d.Context(), d.action.ID)
	require.NoError(d, err)
	return a
}

// undo undoes the action as package undo does.
func (d *deletion) undo(a postroom.Action) error {
	d.Helper()
	require.NotNil(d, a.UndoHint)
	require.False(d, a.UndoHint.Irreversible)
	_, err := d.archive.DeleteKind().Undo(d.Context(), noRun{}, a)
	return err
}

type noRun struct{}

func (noRun) JobID() string { return "job" }
func (noRun) StepJSON(ctx context.Context, _ string, fn func(ctx context.Context) (json.RawMessage, error)) (
	json.RawMessage, error) {
	return fn(ctx)
}
func (noRun) StartStep(context.Context, string) error           { return nil }
func (noRun) StepStarted(context.Context, string) (bool, error) { return false, nil }

func TestADeletionKeepsACopyAndIsUndone(t *testing.T) {
	d := newDeletion(t, letter(1))
	require.NoError(t, d.server.Person().Label(t.Context(), "Work", d.message))
	a := d.carryOut()
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.Empty(t, d.mailbox())
	texts, _ := d.raws()
	require.Equal(t, letter(1), texts[d.message])

	require.NoError(t, d.undo(a))
	require.NoError(t, d.undo(a), "again, as after a crash")
	back := d.mailbox()[letter(1)]
	require.Len(t, back, 1)
	require.Subset(t, back[0].Labels, []string{"Work", "INBOX"})

	before := len(d.came)
	d.work(gmail.NewIngestJob(d.account, back[0].ID))
	require.Len(t, d.came, before, "nothing is decided again about what was put back")
	stored, err := d.store.Copies().State(t.Context(), d.account, back[0].ID)
	require.NoError(t, err)
	require.NotNil(t, stored)
	d.work(gmail.NewIngestJob(d.account, d.deliver(letter(2))[0]))
	require.Len(t, d.came, before+1)
}

func TestNothingIsDeletedWithoutAVerifiedCopy(t *testing.T) {
	for name, breaks := range map[string]func(d *deletion){
		"the disk is full": func(d *deletion) {
			d.cfg.Sync = func(string) error { return errors.New("the disk is full") }
			d.open()
		},
		"the message cannot be read": func(d *deletion) {
			d.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Times: -1, Status: 500})
		},
		"there is no archive": func(d *deletion) { d.archive = nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDeletion(t, letter(1))
			breaks(d)
			kind := archive.NewDeleteKind(func() *archive.Archive { return d.archive })
			for range 3 {
				_, err := kind.Handler(t.Context(), noRun{}, d.action)
				require.Error(t, err)
			}
			require.Zero(t, d.server.Counts()[gmailtest.MessagesDelete])
			n, err := d.server.Count(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, n)
		})
	}
}

// begunRun is a later attempt at a deletion.
type begunRun struct{ noRun }

func (begunRun) StepStarted(context.Context, string) (bool, error) { return true, nil }

// An attempt that follows a failed one deletes nothing either before it has read the copy.
func TestALaterAttemptAtADeletionReadsTheCopy(t *testing.T) {
	d := newDeletion(t, letter(1))
	d.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesDelete, Status: 500})
	handler := archive.NewDeleteKind(func() *archive.Archive { return d.archive }).Handler
	_, err := handler(t.Context(), noRun{}, d.action)
	require.Error(t, err)
	require.NoError(t, os.Remove(d.object(d.message)))
	sync := d.cfg.Sync
	d.cfg.Sync = func(string) error { return errors.New("the disk is full") }
	d.open()
	deletes := d.server.Counts()[gmailtest.MessagesDelete]
	_, err = handler(t.Context(), begunRun{}, d.action)
	require.ErrorContains(t, err, "the disk is full")
	require.Equal(t, deletes, d.server.Counts()[gmailtest.MessagesDelete])

	d.cfg.Sync = sync
	d.open()
	_, err = handler(t.Context(), begunRun{}, d.action)
	require.NoError(t, err)
	require.Empty(t, d.mailbox())
	texts, faults := d.raws()
	require.Empty(t, faults)
	require.Equal(t, letter(1), texts[d.message], "the copy was written again")
	_, err = handler(t.Context(), begunRun{}, d.action)
	require.NoError(t, err, "the message is gone")
}

func TestADeletionWhoseAnswerIsLostIsDone(t *testing.T) {
	d := newDeletion(t, letter(1))
	d.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesDelete, Cut: gmailtest.CutAfter})
	a := d.carryOut()
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	require.NoError(t, d.undo(a))
	require.Len(t, d.mailbox()[letter(1)], 1)
}

// A message that somebody else has deleted is not one that we have.
func TestAMessageThatIsGoneIsNotDeleted(t *testing.T) {
	d := newDeletion(t, letter(1))
	require.NoError(t, d.server.Person().Delete(t.Context(), d.message))
	a := d.carryOut()
	require.Equal(t, postroom.ActionFailed, a.State)
	_, err := d.archive.Message(t.Context(), d.account, d.message)
	require.ErrorIs(t, err, postroom.ErrNotFound)
}

func TestADamagedCopyIsNotPutBack(t *testing.T) {
	d := newDeletion(t, letter(1))
	a := d.carryOut()
	require.Equal(t, postroom.ActionCompleted, a.State, a.Error)
	d.rewrite(d.object(d.message), func(c []byte) []byte { return c[:len(c)-9] })
	require.ErrorContains(t, d.undo(a), "cannot be put back")
	require.Empty(t, d.mailbox())
}

// While a run writes manifests, a deletion writes one of its own: both are in the chain.
func TestADeletionAndARunWriteOneChain(t *testing.T) {
	d := newDeletion(t, letter(1))
	gate := gmailtest.NewGate()
	others := d.deliver(letter(2), letter(3))
	d.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Path: others[0], Gate: gate})
	done := make(chan *queue.Job, 1)
	go func() { done <- d.run(archive.NewRunJob(d.account)) }()
	<-gate.Arrived()
	account, err := d.store.Account(t.Context(), d.account)
	require.NoError(t, err)
	require.NoError(t, d.archive.Keep(t.Context(), account, d.client, d.message))
	gate.Open()
	require.Equal(t, queue.StateCompleted, (<-done).State)
	require.Equal(t, 3, d.status().Messages)
	_, err = d.archive.VerifyChain(t.Context(), d.account)
	require.NoError(t, err)
}

func TestTheQuotaPacesARun(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t))
	for i := range 12 {
		w.deliver(letter(i))
	}
	w.client = w.newClient(gmailapi.Limits{UnitsPerMinute: 60_000, Burst: 120})
	began := time.Now()
	require.Equal(t, 12, w.keep().Messages)
	// 12 reads of 20 units need 240, and a burst has 100 of its 120 for work that can wait: the rest comes at 1000 a
	// second.
	require.Greater(t, time.Since(began), 100*time.Millisecond)
}
