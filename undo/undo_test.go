package undo_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const account = "account-1"

// A house is what an undo needs around it.
type house struct {
	t      require.TestingT
	db     queue.DB
	queue  *queue.Queue
	ledger *safety.Ledger
	box    *mailbox
	undoer *undo.Undoer
}

func newHouse(t *testing.T, driver queue.Driver) *house {
	require.NoError(t, queue.Migrate(t.Context(), driver))
	require.NoError(t, safety.Migrate(t.Context(), driver))
	h := &house{t: t, db: driver, box: newMailbox()}
	var err error
	h.queue, err = queue.New(driver, &queue.Config{
		Retry: queue.RetryPolicy{Base: time.Millisecond, Factor: 1, Cap: time.Millisecond},
	})
	require.NoError(t, err)
	h.ledger, err = safety.New(safety.Config{
		DB:      driver,
		Execute: func(context.Context, *queue.Tx, postroom.Action) error { return nil },
	})
	require.NoError(t, err)
	h.undoer, err = undo.New(undo.Config{Queue: h.queue, Ledger: h.ledger, Mailbox: h.box})
	require.NoError(t, err)
	return h
}

// each runs the test on every database that a queue can be kept in.
func each(t *testing.T, fn func(t *testing.T, h *house)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		driver, ok := db.(queue.Driver)
		if !ok {
			t.Skipf("undo is not tested on %s: the queue has no driver for it", db.Dialect())
		}
		fn(t, newHouse(t, driver))
	})
}

func (h *house) write(fn func(ctx context.Context, tx *queue.Tx) error) {
	require.NoError(h.t, h.db.Write(context.Background(), fn))
}

func (h *house) record(action postroom.ActionType) postroom.Action {
	var a postroom.Action
	h.write(func(ctx context.Context, tx *queue.Tx) (err error) {
		msg := &postroom.Message{ID: uuid.NewString(), AccountID: account}
		a, err = h.ledger.Record(ctx, tx, msg, postroom.Decision{
			Action: action, Parameters: postroom.Parameters{"label": "Label_1"}, Confidence: 1, Rationale: "test",
			Source: postroom.SourceDeterministic, RuleID: "rule-1", SafeMode: postroom.SafeDangerousOverride,
		})
		return err
	})
	return a
}

func (h *house) complete(id string, hint postroom.UndoHint) postroom.Action {
	h.write(func(ctx context.Context, tx *queue.Tx) error {
		if _, err := h.ledger.Start(ctx, tx, id, "action-job"); err != nil {
			return err
		}
		return h.ledger.Complete(ctx, tx, id, hint)
	})
	a, err := h.ledger.Action(context.Background(), id)
	require.NoError(h.t, err)
	return a
}

// acted is an action that took a message from one image to another; the message is in the mailbox.
func (h *house) acted(before, after []string) postroom.Action {
	a := h.record(postroom.Archive)
	b, f := postroom.NewImage(before), postroom.NewImage(after)
	h.box.messages[a.MessageID] = f
	return h.complete(a.ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, Before: &b, After: &f})
}

func (h *house) request(id string) queue.Receipt {
	receipt, err := h.undoer.Request(context.Background(), id)
	require.NoError(h.t, err)
	return receipt
}

// run works until no undo is left to do. It takes over what a worker that died has left.
func (h *house) run() {
	d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Exclusive: true})
	require.NoError(h.t, err)
	queue.Handle(d, undo.Job, h.undoer.Handle)
	require.NoError(h.t, d.RunUntilIdle(context.Background()))
}

func (h *house) job(id string) queue.Job {
	job, err := h.queue.Job(context.Background(), id)
	require.NoError(h.t, err)
	return *job
}

func (h *house) undos(id string) []postroom.Action {
	undos, err := h.ledger.Undos(context.Background(), id)
	require.NoError(h.t, err)
	return undos
}

func (h *house) report(id string) undo.Report {
	r, err := h.undoer.Report(context.Background(), id)
	require.NoError(h.t, err)
	return r
}

func TestNewNamesWhatIsMissing(t *testing.T) {
	h := newHouse(t, dbtest.SQLite(t))
	for want, cfg := range map[string]undo.Config{
		"Config.Queue":   {Ledger: h.ledger, Mailbox: h.box},
		"Config.Ledger":  {Queue: h.queue, Mailbox: h.box},
		"Config.Mailbox": {Queue: h.queue, Ledger: h.ledger},
	} {
		_, err := undo.New(cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestUndo(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX", "UNREAD"}, []string{"Label_1", "UNREAD"})
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"UNREAD"}})

		want := undo.Report{
			Restored:  postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
			LeftAlone: []undo.Since{{LabelID: "STARRED", Added: true}, {LabelID: "UNREAD"}},
		}
		planned, err := h.undoer.Plan(t.Context(), a.ID)
		require.NoError(t, err)
		require.Equal(t, want, planned)
		_, err = h.undoer.Report(t.Context(), a.ID)
		require.ErrorIs(t, err, undo.ErrNotUndone)
		require.Empty(t, h.undos(a.ID), "a plan writes nothing")

		receipt := h.request(a.ID)
		require.False(t, receipt.Duplicate)
		require.True(t, h.request(a.ID).Duplicate, "asked for twice, it is one job")
		h.run()

		job := h.job(receipt.ID)
		require.Equal(t, queue.StateCompleted, job.State)
		require.Equal(t, "undo.action:account-1:"+a.ID, job.Key)
		require.Equal(t, queue.KeyUnfinished, job.KeyScope)
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.copies[a.MessageID].LabelIDs)
		require.Equal(t, want, h.report(a.ID))

		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, postroom.ActionType("undo_archive"), undos[0].Type)
		require.Equal(t, postroom.ActionCompleted, undos[0].State)
		require.Equal(t, receipt.ID, undos[0].JobID)
		require.True(t, undos[0].UndoHint.Irreversible)
		require.Equal(t, []string{"Label_1", "STARRED"}, undos[0].UndoHint.Before.LabelIDs)
		require.Equal(t, []string{"INBOX", "STARRED"}, undos[0].UndoHint.After.LabelIDs)
	})
}

func TestUndoOfWhatChangedNothing(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"Label_1"}, []string{"Label_1"})
		h.request(a.ID)
		h.run()
		require.Equal(t, []string{"Label_1"}, h.box.image(a.MessageID).LabelIDs)
		require.Zero(t, h.box.calls)
		require.True(t, h.report(a.ID).Restored.IsZero())
	})
}

// TestRefusals: each is told by its reason, to all who ask, and leaves no trace.
func TestRefusals(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		img := postroom.NewImage([]string{"INBOX"})
		undone := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.request(undone.ID)
		h.run()

		for name, tc := range map[string]struct {
			id   string
			want error
		}{
			"not carried out":  {h.record(postroom.Archive).ID, undo.ErrNotCompleted},
			"irreversible":     {h.complete(h.record(postroom.Delete).ID, postroom.UndoHint{InverseAction: postroom.None, Irreversible: true}).ID, undo.ErrIrreversible},
			"nothing was done": {h.record(postroom.None).ID, undo.ErrNoHint},
			"no image before":  {h.complete(h.record(postroom.Archive).ID, postroom.UndoHint{InverseAction: postroom.ApplyLabel, After: &img}).ID, undo.ErrNoHint},
			"already undone":   {undone.ID, undo.ErrAlreadyUndone},
			"an undo":          {h.undos(undone.ID)[0].ID, undo.ErrIsUndo},
		} {
			t.Run(name, func(t *testing.T) {
				before := len(h.undos(tc.id))
				_, err := h.undoer.Request(t.Context(), tc.id)
				require.ErrorIs(t, err, tc.want)
				require.ErrorIs(t, err, undo.ErrRefused)
				_, err = h.undoer.Plan(t.Context(), tc.id)
				require.ErrorIs(t, err, tc.want)

				// A job that was enqueued by hand meets the same wall.
				receipt, err := h.queue.Enqueue(t.Context(), undo.Job.New(undo.Payload{AccountID: account, OriginalActionID: tc.id}, nil))
				require.NoError(t, err)
				h.run()
				require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
				require.Equal(t, 1, h.job(receipt.ID).Failures, "no retry mends it")
				require.Len(t, h.undos(tc.id), before)
			})
		}

		_, err := h.undoer.Request(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = h.undoer.Plan(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = h.undoer.Report(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

func TestJobsThatDoNotFit(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		for name, payload := range map[string]undo.Payload{
			"another account": {AccountID: "account-2", OriginalActionID: a.ID},
			"unknown action":  {AccountID: account, OriginalActionID: "nobody"},
		} {
			t.Run(name, func(t *testing.T) {
				receipt, err := h.queue.Enqueue(t.Context(), undo.Job.New(payload, nil))
				require.NoError(t, err)
				h.run()
				require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
				require.Empty(t, h.undos(a.ID))
			})
		}
	})
}

func TestMessageGone(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.remove(a.MessageID)
		receipt := h.request(a.ID)
		h.run()
		require.Equal(t, queue.StateFailed, h.job(receipt.ID).State)
		require.Equal(t, 1, h.job(receipt.ID).Failures)
		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, postroom.ActionFailed, undos[0].State)
		require.Equal(t, postroom.ErrMessageGone.Error(), undos[0].Error)
		_, err := h.undoer.Report(t.Context(), a.ID)
		require.ErrorIs(t, err, undo.ErrNotUndone)
		require.ErrorContains(t, err, postroom.ErrMessageGone.Error())
		_, err = h.undoer.Plan(t.Context(), a.ID)
		require.ErrorIs(t, err, postroom.ErrMessageGone)
	})
}

func faults(n int) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = errors.New("the network is down")
	}
	return all
}

func TestFailedUndoCanBeAskedForAgain(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = faults(5)
		first := h.request(a.ID)
		h.run()
		require.Equal(t, queue.StateFailed, h.job(first.ID).State)
		require.Equal(t, 5, h.job(first.ID).Failures)
		require.Equal(t, postroom.ActionFailed, h.undos(a.ID)[0].State)
		require.Equal(t, "the network is down", h.undos(a.ID)[0].Error)

		second := h.request(a.ID)
		require.False(t, second.Duplicate)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(second.ID).State)
		require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
		require.Len(t, h.undos(a.ID), 2)
	})
}

func TestFailedJobCanBeRetried(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = faults(5)
		receipt := h.request(a.ID)
		h.run()
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
		require.NoError(t, h.queue.Retry(t.Context(), receipt.ID))
		h.run()
		require.Equal(t, []string{"INBOX", "STARRED"}, h.box.image(a.MessageID).LabelIDs)
		require.Equal(t, []undo.Since{{LabelID: "STARRED", Added: true}}, h.report(a.ID).LeftAlone)
	})
}

// TestVerdictsOfTheMailbox: what the queue spares or ends at once is judged so for the undo too.
func TestVerdictsOfTheMailbox(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		forbidden := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = []error{queue.Fatal(errors.New("no such label"))}
		receipt := h.request(forbidden.ID)
		h.run()
		require.Equal(t, 1, h.job(receipt.ID).Failures)
		require.Equal(t, postroom.ActionFailed, h.undos(forbidden.ID)[0].State)
		require.Equal(t, "no such label", h.undos(forbidden.ID)[0].Error)

		limited := h.acted([]string{"INBOX"}, []string{"Label_1"})
		h.box.applyFaults = append(faults(4), queue.Defer(errors.New("too many requests"), time.Millisecond))
		receipt = h.request(limited.ID)
		h.run()
		job := h.job(receipt.ID)
		require.Equal(t, queue.StateCompleted, job.State, "a deferral on the last attempt does not end it")
		require.Equal(t, 1, job.Interruptions)
		require.Len(t, h.undos(limited.ID), 1)
	})
}

// TestEveryFaultEndsAlike: wherever an attempt breaks off, the next brings the message and the ledger to the same end.
func TestEveryFaultEndsAlike(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		for name, arm := range map[string]func(*mailbox){
			"reading fails":                     func(m *mailbox) { m.imageFaults = faults(2) },
			"the call never arrives":            func(m *mailbox) { m.applyFaults = faults(2) },
			"the answer is lost":                func(m *mailbox) { m.lostFaults = faults(2) },
			"half of the change is made":        func(m *mailbox) { m.halfFaults = faults(2) },
			"the commit fails":                  func(m *mailbox) { m.setFaults = faults(2) },
			"reading again fails after a crash": func(m *mailbox) { m.setFaults = faults(1); m.imageFaults = []error{nil, errors.New("down")} },
			"one thing after the other": func(m *mailbox) {
				m.applyFaults, m.halfFaults, m.lostFaults, m.setFaults = faults(1), faults(1), faults(1), faults(1)
			},
		} {
			t.Run(name, func(t *testing.T) {
				a := h.acted([]string{"INBOX", "UNREAD"}, []string{"TRASH", "UNREAD"})
				h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"STARRED"}})
				arm(h.box)
				receipt := h.request(a.ID)
				h.run()
				require.Equal(t, queue.StateCompleted, h.job(receipt.ID).State)
				require.Positive(t, h.job(receipt.ID).Failures, "the fault has struck")
				require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, h.box.image(a.MessageID).LabelIDs)
				require.Equal(t, []string{"INBOX", "STARRED", "UNREAD"}, h.box.copies[a.MessageID].LabelIDs)
				r := h.report(a.ID)
				require.Equal(t, []string{"INBOX"}, r.Restored.Add)
				require.Equal(t, []string{"TRASH"}, r.Restored.Remove)
				require.Equal(t, []undo.Since{{LabelID: "STARRED", Added: true}}, r.LeftAlone)
				require.Len(t, h.undos(a.ID), 1)
			})
		}
	})
}

// TestKilledAfterTheCall: the process dies after the provider has been changed and before anything about it is
// committed.
func TestKilledAfterTheCall(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		receipt := h.request(a.ID)

		jobs, err := h.queue.Claim(t.Context(), "worker-that-dies", []string{string(undo.Job)}, 1)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		var begun postroom.Action
		h.write(func(ctx context.Context, tx *queue.Tx) (err error) {
			begun, err = h.ledger.StartUndo(ctx, tx, a.ID, receipt.ID)
			return err
		})
		require.NoError(t, h.queue.FinishStep(t.Context(), jobs[0].Lease(), "image "+begun.ID, h.box.image(a.MessageID)))
		h.box.change(a.MessageID, postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}})

		h.run()
		require.Equal(t, queue.StateCompleted, h.job(receipt.ID).State)
		require.Equal(t, 1, h.job(receipt.ID).Crashes)
		require.Zero(t, h.box.calls, "it was done already")
		require.Equal(t, []string{"INBOX"}, h.box.copies[a.MessageID].LabelIDs)
		require.Equal(t, undo.Report{
			Restored:  postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"Label_1"}},
			LeftAlone: []undo.Since{},
		}, h.report(a.ID), "its own work is not taken for the user's")
		undos := h.undos(a.ID)
		require.Len(t, undos, 1)
		require.Equal(t, begun.ID, undos[0].ID)
	})
}

// TestAnOwnerThatEndedIsReplaced: a job that was canceled in the middle blocks nobody.
func TestAnOwnerThatEndedIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, h *house) {
		a := h.acted([]string{"INBOX"}, []string{"Label_1"})
		first := h.request(a.ID)
		h.write(func(ctx context.Context, tx *queue.Tx) error {
			_, err := h.ledger.StartUndo(ctx, tx, a.ID, first.ID)
			return err
		})

		// While it lives, another job is refused.
		other, err := h.queue.Enqueue(t.Context(), undo.Job.New(undo.Payload{AccountID: account, OriginalActionID: a.ID},
			&queue.Options{Priority: 1}))
		require.NoError(t, err)
		d, err := queue.NewDispatcher(h.queue, &queue.DispatcherConfig{Workers: 1})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		queue.Handle(d, undo.Job, func(ctx context.Context, w *queue.Work[undo.Payload]) error {
			defer stop()
			return h.undoer.Handle(ctx, w)
		})
		require.NoError(t, d.Run(ctx))
		require.Equal(t, queue.StateFailed, h.job(other.ID).State)
		require.Contains(t, h.job(other.ID).LastError, "is being undone, by action "+h.undos(a.ID)[0].ID)

		require.NoError(t, h.queue.Cancel(t.Context(), first.ID))
		second := h.request(a.ID)
		require.False(t, second.Duplicate)
		h.run()
		require.Equal(t, queue.StateCompleted, h.job(second.ID).State)
		undos := h.undos(a.ID)
		require.Len(t, undos, 2)
		require.Equal(t, postroom.ActionCompleted, undos[0].State)
		require.Equal(t, postroom.ActionFailed, undos[1].State)
		require.Equal(t, "its job ended before it did", undos[1].Error)
	})
}

// TestUndoOfASnoozeCancelsItsEnd: a job that the action has scheduled does not run when the action is taken back.
func TestUndoOfASnoozeCancelsItsEnd(t *testing.T) {
	const wake queue.Type[string] = "unsnooze"
	each(t, func(t *testing.T, h *house) {
		for name, prepare := range map[string]func(id string) string{
			"still to come": func(id string) string { return id },
			"over": func(id string) string {
				require.NoError(t, h.queue.Cancel(t.Context(), id))
				return id
			},
			"pruned": func(string) string { return uuid.NewString() },
		} {
			t.Run(name, func(t *testing.T) {
				scheduled, err := h.queue.EnqueueScheduled(t.Context(), wake.New("up", nil), time.Now().Add(time.Hour))
				require.NoError(t, err)
				a := h.record(postroom.Snooze)
				before, after := postroom.NewImage([]string{"INBOX"}), postroom.NewImage([]string{"Snoozed"})
				h.box.messages[a.MessageID] = after
				h.complete(a.ID, postroom.UndoHint{
					InverseAction:     postroom.ApplyLabel,
					InverseParameters: postroom.Parameters{"cancel_unsnooze_job_id": prepare(scheduled.ID)},
					Before:            &before, After: &after,
				})
				h.request(a.ID)
				h.run()
				require.Equal(t, []string{"INBOX"}, h.box.image(a.MessageID).LabelIDs)
				if name != "pruned" {
					require.Equal(t, queue.StateCanceled, h.job(scheduled.ID).State)
				}
			})
		}
	})
}

// TestUndoAgainstAModel: whatever an action did and whatever the user did since, through whatever faults, the undo brings
// each label back that nobody has touched, and no other.
func TestUndoAgainstAModel(t *testing.T) {
	base := newHouse(t, dbtest.SQLite(t))
	labels := []string{"UNREAD", "STARRED", "Label_1", "Label_2", "Label_3"}
	rapid.Check(t, func(t *rapid.T) {
		h := *base
		h.t = t
		draw := func(name string) []string {
			return rapid.SliceOfDistinct(rapid.SampledFrom(labels), rapid.ID).Draw(t, name)
		}
		before, after := draw("before"), draw("after")
		a := h.acted(before, after)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			h.box.change(a.MessageID, postroom.LabelChange{Add: draw("adds"), Remove: draw("removes")})
		}
		now := h.box.image(a.MessageID)
		h.box.applyFaults = faults(rapid.IntRange(0, 1).Draw(t, "apply faults"))
		h.box.halfFaults = faults(rapid.IntRange(0, 1).Draw(t, "half faults"))
		h.box.lostFaults = faults(rapid.IntRange(0, 1).Draw(t, "lost faults"))
		h.box.setFaults = faults(rapid.IntRange(0, 1).Draw(t, "set faults"))
		h.request(a.ID)
		h.run()
		h.box.applyFaults, h.box.halfFaults, h.box.lostFaults, h.box.setFaults = nil, nil, nil, nil

		b, f := postroom.NewImage(before), postroom.NewImage(after)
		var want []string
		for _, l := range labels {
			untouched := now.Has(l) == f.Has(l)
			if untouched && b.Has(l) || !untouched && now.Has(l) {
				want = append(want, l)
			}
		}
		require.ElementsMatch(t, want, h.box.image(a.MessageID).LabelIDs)
		require.ElementsMatch(t, want, h.box.copies[a.MessageID].LabelIDs)
		for _, s := range h.report(a.ID).LeftAlone {
			require.NotEqual(t, now.Has(s.LabelID), f.Has(s.LabelID))
		}
	})
}
