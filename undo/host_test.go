package undo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/undo"
)

// hostKinds has create_task, carried out by the host, and file_and_star, which changes labels. Each call of the
// task's Undo takes the first of the faults, if there is one.
func hostKinds(t *testing.T, faults *[]error) *postroom.Kinds {
	t.Helper()
	task, _ := postroom.StandardKind(postroom.CreateTask)
	task.Parameters = nil
	task.Handler = func(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
		return postroom.Outcome{
			Undo: postroom.Parameters{"task": "task of " + a.ID},
			Commit: func(ctx context.Context, tx postroom.Tx) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO tasks (id) VALUES ($1)`, "task of "+a.ID)
				return err
			},
		}, nil
	}
	task.Undo = func(_ context.Context, run postroom.Run, a postroom.Action) (postroom.Commit, error) {
		if err := take(faults); err != nil {
			return nil, err
		}
		id, _ := a.UndoHint.Undo.Text("task")
		if id == "" || run.JobID() == "" {
			return nil, queue.Fatal(errors.New("nothing to undo"))
		}
		return func(ctx context.Context, tx postroom.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM tasks WHERE id = $1`, id)
			return err
		}, nil
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{task, {
		Type: "file_and_star", Summary: "star the message and archive it", Danger: postroom.Reversible,
		Effect: func(postroom.Parameters) postroom.Effect {
			return postroom.Effect{Change: postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"INBOX"}}}
		},
	}}})
	require.NoError(t, err)
	return kinds
}

func (h *house) tasks() (n int) {
	require.NoError(h, h.queue.DB().Reader().GetContext(h.Context(), &n, `SELECT COUNT(*) FROM tasks`))
	return n
}

// TestUndoByTheHost: what a Handler has done, the Undo of its kind undoes, in the transaction that completes the undo.
func TestUndoByTheHost(t *testing.T) {
	faults := []error{errors.New("away")}
	h := newHouseOf(t, hostKinds(t, &faults))
	require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE tasks (id TEXT PRIMARY KEY)`)
		return err
	}))
	id, msg := h.letter("a task")
	first, second := h.decide(msg, postroom.CreateTask, ""), h.decide(msg, postroom.Archive, "")
	h.run()
	require.Equal(t, 1, h.tasks())

	plan, err := h.undoer.Plan(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, undo.Report{Preserved: []undo.ExternalChange{}}, plan)
	h.undoAll(first)
	require.Empty(t, faults, "it was tried again")
	require.Zero(t, h.tasks())
	require.Equal(t, []string{"UNREAD"}, h.labels(id), "the archive stays")
	report, err := h.undoer.Report(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, plan, report)

	_, err = h.undoer.Request(t.Context(), first)
	require.ErrorIs(t, err, undo.ErrAlreadyUndone)
	_, err = h.undoer.Request(t.Context(), h.undoOf(first).ID)
	require.ErrorIs(t, err, undo.ErrIrreversible, "decide it anew")
	h.undoAll(second)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
}

func TestUndoByAHostThatNoLongerDoes(t *testing.T) {
	h := newHouseOf(t, hostKinds(t, new([]error)))
	require.NoError(t, h.queue.DB().Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TABLE tasks (id TEXT PRIMARY KEY)`)
		return err
	}))
	_, msg := h.letter("a task")
	task := h.decide(msg, postroom.CreateTask, "")
	h.run()
	ledger, err := safety.NewLedger(safety.Config{DB: h.queue.DB(),
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil }})
	require.NoError(t, err)
	h.undo.Kinds, h.undo.Ledger = nil, ledger
	without, err := undo.NewUndoer(h.undo)
	require.NoError(t, err)
	_, err = without.Request(t.Context(), task)
	require.ErrorIs(t, err, undo.ErrRefused)
	require.ErrorContains(t, err, "Config.Kinds has no kind create_task with an Undo")
}

func TestUndoOfAHostsEffect(t *testing.T) {
	h := newHouseOf(t, hostKinds(t, new([]error)))
	id, msg := h.letter("filed")
	filed := h.decide(msg, "file_and_star", "")
	h.run()
	require.Equal(t, []string{"STARRED", "UNREAD"}, h.labels(id))
	h.undoAll(filed)
	require.Equal(t, []string{"INBOX", "UNREAD"}, h.labels(id))
	h.undoAll(h.undoOf(filed).ID)
	require.Equal(t, []string{"STARRED", "UNREAD"}, h.labels(id))
}
