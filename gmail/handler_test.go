package gmail

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// printing is a world with a kind of the host's own, print, carried out by the handler.
func printing(t *testing.T, handler postroom.Handler, undo postroom.Undoer) *world {
	t.Helper()
	w := newWorld(t)
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{
		Type: "print", Summary: "print the message", Handler: handler, Undo: undo,
	}}})
	require.NoError(t, err)
	w.cfg.Kinds = kinds
	return w
}

// TestAHandlerRunsInTheActionsJob: its steps outlast its attempts, and what it commits is one with the end of the
// action.
func TestAHandlerRunsInTheActionsJob(t *testing.T) {
	printed, runs := 0, 0
	w := printing(t, func(ctx context.Context, run postroom.Run, a postroom.Action) (postroom.Outcome, error) {
		runs++
		started, err := run.StepStarted(ctx, "announced")
		if err != nil || started != (runs > 1) {
			return postroom.Outcome{}, queue.Fatal(fmt.Errorf("announced %v at run %d: %w", started, runs, err))
		}
		if err := run.StartStep(ctx, "announced"); err != nil {
			return postroom.Outcome{}, err
		}
		page, err := postroom.Step(ctx, run, "print", func(context.Context) (int, error) {
			printed++
			return 40 + printed, nil
		})
		if err != nil {
			return postroom.Outcome{}, err
		}
		if runs == 1 {
			return postroom.Outcome{}, errors.New("out of paper")
		}
		return postroom.Outcome{
			Undo: postroom.Parameters{"page": page},
			Commit: func(ctx context.Context, tx postroom.Tx) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO printed (action, job, page) VALUES ($1, $2, $3)`, a.ID,
					run.JobID(), page)
				if err == nil && runs == 2 {
					return errors.New("the transaction is rolled back")
				}
				return err
			},
		}, nil
	}, func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil }) //nolint:nilnil // not called here
	w.exec(`CREATE TABLE printed (action TEXT, job TEXT, page INTEGER)`)
	message, providerID := w.known("INBOX")
	job, done := w.act(message, "print", "")
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
	require.Equal(t, queue.StateCompleted, job.State)
	require.Equal(t, 3, runs)
	require.Equal(t, 1, printed)
	require.Equal(t, &postroom.UndoHint{InverseAction: postroom.None, Undo: postroom.Parameters{"page": 41.0}},
		done.UndoHint)
	require.True(t, done.UndoHint.Undoable())
	var rows []struct {
		Action, Job string
		Page        int
	}
	require.NoError(t, w.db.Reader().SelectContext(t.Context(), &rows, `SELECT action, job, page FROM printed`))
	require.Len(t, rows, 1)
	require.Equal(t, done.ID, rows[0].Action)
	require.Equal(t, job.ID, rows[0].Job)
	require.Equal(t, 41, rows[0].Page)
	atGmail, _ := w.labels(providerID)
	require.Equal(t, []string{"INBOX"}, atGmail)
}

func TestAHandlerWithoutAnUndo(t *testing.T) {
	w := printing(t, func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
		return postroom.Outcome{Undo: postroom.Parameters{"page": 1}}, nil
	}, nil)
	message, _ := w.known("INBOX")
	_, done := w.act(message, "print", "")
	require.Equal(t, postroom.ActionCompleted, done.State)
	require.True(t, done.UndoHint.Irreversible)
	require.False(t, done.UndoHint.Undoable())
}

func TestAHandlerThatFails(t *testing.T) {
	for name, handler := range map[string]postroom.Handler{
		"fatal": func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{}, queue.Fatal(errors.New("no printer"))
		},
		"always": func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
			return postroom.Outcome{}, errors.New("no printer")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := printing(t, handler, nil)
			message, _ := w.known("INBOX")
			job, done := w.act(message, "print", "")
			require.Equal(t, queue.StateFailed, job.State)
			require.Equal(t, postroom.ActionFailed, done.State)
			require.Contains(t, done.Error, "no printer")
		})
	}
}

// TestAHostsEffect: a kind that only changes labels needs no handler.
func TestAHostsEffect(t *testing.T) {
	w := newWorld(t)
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{
		Type: "file_and_star", Summary: "star the message and archive it", Danger: postroom.Reversible,
		Effect: func(postroom.Parameters) postroom.Effect {
			return postroom.Effect{Change: postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"INBOX"}}}
		},
	}}})
	require.NoError(t, err)
	w.cfg.Kinds = kinds
	message, providerID := w.known("INBOX", "UNREAD")
	_, done := w.act(message, "file_and_star", "")
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
	atGmail, here := w.labels(providerID)
	require.Equal(t, []string{"STARRED", "UNREAD"}, atGmail)
	require.Equal(t, atGmail, here)
	require.Equal(t, &postroom.LabelChange{Add: []string{"STARRED"}, Remove: []string{"INBOX"}}, done.UndoHint.Change)
	require.True(t, done.UndoHint.Undoable())
}

// A Handler gets a label by its id, also of one that is made only now.
func TestAHandlerGetsTheIDOfALabelThatWasWanted(t *testing.T) {
	w := newWorld(t)
	var given any
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{{
		Type: "file", Summary: "file it", Danger: postroom.Dangerous,
		Parameters: []postroom.Parameter{{Name: "label", Type: postroom.LabelParameter, Required: true}},
		Handler: func(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
			given = a.Parameters["label"]
			return postroom.Outcome{}, nil
		},
	}}})
	require.NoError(t, err)
	w.cfg.Kinds = kinds
	message, _ := w.known("INBOX")
	resume := w.held()
	w.run(NewLabelsSyncJob(w.account, "Trips"))
	resume()
	_, done := w.act(message, "file", "Trips")
	require.Equal(t, postroom.ActionCompleted, done.State, done.Error)
	require.Equal(t, "Trips", w.labelNames()[given.(string)])
}
