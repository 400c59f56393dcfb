package safety

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestStateMachine(t *testing.T) {
	allowed := map[postroom.ActionState][]postroom.ActionState{
		postroom.ActionQueued: {
			postroom.ActionExecuting, postroom.ActionCanceled, postroom.ActionRejected, postroom.ActionPendingApproval,
			postroom.ActionFailed,
		},
		postroom.ActionExecuting:       {postroom.ActionCompleted, postroom.ActionFailed, postroom.ActionCanceled},
		postroom.ActionPendingApproval: {postroom.ActionQueued, postroom.ActionCanceled, postroom.ActionRejected},
	}
	for from := range before {
		var reachable []postroom.ActionState
		for to := range before {
			if CanFollow(from, to) {
				reachable = append(reachable, to)
			}
		}
		require.ElementsMatch(t, allowed[from], reachable, "from %s", from)
		require.Equal(t, from.Final(), len(reachable) == 0, "%s", from)
	}
	for to, from := range before {
		require.LessOrEqual(t, len(from), 3, "moveAction has room for three states before %s", to)
		require.NotEmpty(t, from)
	}
}

func TestStartBelongsToOneJob(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID

		first, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, postroom.ActionExecuting, first.State)
		require.Equal(t, "job-1", first.JobID)
		require.False(t, first.ExecutedAt.IsZero())

		d.now = d.now.Add(time.Hour)
		again, err := d.start(id, "job-1")
		require.NoError(t, err)
		require.Equal(t, first, again, "executed_at is set once")

		_, err = d.start(id, "job-2")
		var state *StateError
		require.ErrorAs(t, err, &state)
		require.Equal(t, StateError{Op: "start", ActionID: id, State: postroom.ActionExecuting, JobID: "job-1"}, *state)
		require.ErrorContains(t, err, "it is executing by job job-1")

		require.NoError(t, d.complete(id, postroom.UndoHint{InverseAction: postroom.ApplyLabel}))
		_, err = d.start(id, "job-1")
		require.ErrorIs(t, err, ErrState, "completed is final for its own job too")

		_, err = d.start(d.record(message("b@example.com"), rule(postroom.Archive, "")).ID, "")
		require.ErrorContains(t, err, "job's id is empty")
	})
}

func TestCompleteKeepsTheHint(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.completed()
		require.Equal(t, postroom.ActionCompleted, a.State)
		require.Equal(t, []string{"INBOX"}, a.UndoHint.Before.LabelIDs)
		require.True(t, a.UndoHint.Undoable())
		require.ErrorIs(t, d.fail(a.ID, "too late"), ErrState)
		require.Empty(t, d.get(a.ID).Error)
	})
}

func TestUnknownActions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		_, err := d.start("nobody", "job-1")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		require.ErrorIs(t, d.fail("nobody", "x"), postroom.ErrNotFound)
		_, err = d.approve("nobody", "ann")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.ledger.Action(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.ledger.Decision(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
		_, err = d.ledger.Report(t.Context(), "nobody")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}

// TestStatesAgainstAModel tries changes in any order on a few actions and compares every answer with a model of the
// table.
func TestStatesAgainstAModel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		base := newDesk(t, db, nil)
		rapid.Check(t, func(t *rapid.T) {
			d := *base
			d.t = t
			m := &machine{desk: &d, states: map[string]postroom.ActionState{}, jobs: map[string]string{},
				answers: map[string]Outcome{}}
			account := uuid.NewString()
			mail := func() *postroom.Message {
				msg := message("a@example.com")
				msg.AccountID = account
				return msg
			}
			for range 2 {
				m.ids = append(m.ids, d.record(mail(), rule(postroom.Archive, "")).ID)
				m.states[m.ids[len(m.ids)-1]] = postroom.ActionQueued
				m.ids = append(m.ids, d.record(mail(), model(postroom.Delete, 1)).ID)
				m.states[m.ids[len(m.ids)-1]] = postroom.ActionPendingApproval
			}
			t.Repeat(map[string]func(*rapid.T){
				"start":    m.start,
				"complete": m.change("complete", postroom.ActionCompleted, func(id string) error { return d.complete(id, postroom.UndoHint{}) }),
				"fail":     m.change("fail", postroom.ActionFailed, func(id string) error { return d.fail(id, "broken") }),
				"cancel":   m.change("cancel", postroom.ActionCanceled, func(id string) error { return d.cancel(id, "unwanted") }),
				"approve": m.change("approve", postroom.ActionQueued, func(id string) error {
					_, err := d.approve(id, "ann")
					if err == nil {
						m.answers[id] = OutcomeApproved
					}
					return err
				}),
				"reject": m.change("reject", postroom.ActionRejected, func(id string) error {
					waits := m.states[id] == postroom.ActionPendingApproval
					_, err := d.reject(id, "ann", "no")
					if err == nil && waits {
						m.answers[id] = OutcomeRejected
					}
					return err
				}),
				"hold": m.change("hold", postroom.ActionPendingApproval, func(id string) error {
					_, err := d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
						return d.ledger.Hold(ctx, tx, id, "wait")
					})
					return err
				}),
				"": m.check,
			})
			for _, id := range m.ids {
				m.compare(t, id)
			}
		})
	})
}

type machine struct {
	desk   *desk
	ids    []string
	states map[string]postroom.ActionState
	jobs   map[string]string
	// answers are the last ones of people.
	answers map[string]Outcome
	last    string // the action that the last change was about
}

func (m *machine) draw(t *rapid.T) string {
	m.last = rapid.SampledFrom(m.ids).Draw(t, "id")
	return m.last
}

func (m *machine) start(t *rapid.T) {
	id := m.draw(t)
	job := rapid.SampledFrom([]string{"job-1", "job-2"}).Draw(t, "job")
	a, err := m.desk.start(id, job)
	switch {
	case m.states[id] == postroom.ActionQueued:
		require.NoError(t, err)
		m.states[id], m.jobs[id] = postroom.ActionExecuting, job
	case m.states[id] == postroom.ActionExecuting && m.jobs[id] == job:
		require.NoError(t, err)
		require.Equal(t, job, a.JobID)
	default:
		m.refused(t, id, "start", err)
	}
}

func (m *machine) change(op string, to postroom.ActionState, do func(id string) error) func(*rapid.T) {
	return func(t *rapid.T) {
		id := m.draw(t)
		err := do(id)
		approved := to == postroom.ActionRejected && m.states[id] == postroom.ActionQueued && m.answers[id] == OutcomeApproved
		if !CanFollow(m.states[id], to) || approved {
			m.refused(t, id, op, err)
			return
		}
		require.NoError(t, err)
		m.states[id] = to
	}
}

func (m *machine) refused(t *rapid.T, id, op string, err error) {
	var state *StateError
	require.ErrorAs(t, err, &state)
	require.Equal(t, StateError{Op: op, ActionID: id, State: m.states[id], JobID: m.jobs[id], Answer: state.Answer},
		*state)
	require.Equal(t, m.answers[id] != "", state.Answer != nil)
	if state.Answer != nil {
		require.Equal(t, m.answers[id], state.Answer.Outcome)
	}
}

func (m *machine) check(t *rapid.T) {
	if m.last != "" {
		m.compare(t, m.last)
	}
}

// compare holds one action, and its requests for approval, against the model.
func (m *machine) compare(t *rapid.T, id string) {
	a := m.desk.get(id)
	require.Equal(t, m.states[id], a.State)
	require.Equal(t, m.jobs[id], a.JobID)
	require.Equal(t, m.jobs[id] != "", !a.ExecutedAt.IsZero())
	require.Equal(t, m.states[id] == postroom.ActionCompleted, a.UndoHint != nil)
	approvals, err := m.desk.ledger.ApprovalsOf(context.Background(), id)
	require.NoError(t, err)
	waiting := 0
	for _, p := range approvals {
		if p.Outcome == OutcomeWaiting {
			waiting++
		}
	}
	if m.states[id] == postroom.ActionPendingApproval {
		require.Equal(t, 1, waiting)
	} else {
		require.Zero(t, waiting)
	}
}

// TestOneOfManyApprovals: of many who approve one action at once, one has approved it, and it is executed once.
func TestOneOfManyApprovals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var executed atomic.Int32
		d := newDesk(t, db, func(c *Config) {
			c.Execute = func(context.Context, queue.Tx, postroom.Action) error {
				executed.Add(1)
				return nil
			}
		})
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID

		errs := make([]error, 10)
		var wg sync.WaitGroup
		for i := range errs {
			wg.Go(func() { _, errs[i] = d.approve(id, fmt.Sprintf("person-%d", i)) })
		}
		wg.Wait()

		winner, answers := -1, []Approval(nil)
		for i, err := range errs {
			if err == nil {
				require.Equal(t, -1, winner, "two have approved")
				winner = i
				continue
			}
			var state *StateError
			require.ErrorAs(t, err, &state)
			require.Equal(t, StateError{Op: "approve", ActionID: id, State: postroom.ActionQueued, Answer: state.Answer}, *state)
			answers = append(answers, *state.Answer)
		}
		require.NotEqual(t, -1, winner)
		require.EqualValues(t, 1, executed.Load())
		approvals, err := d.ledger.ApprovalsOf(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, approvals, 1)
		require.Equal(t, fmt.Sprintf("person-%d", winner), approvals[0].Approver)
		for _, answer := range answers {
			require.Equal(t, approvals[0], answer, "the others are told who was first")
		}
	})
}

// TestConcurrentEndsHaveOneWinner: the losers learn which end it was.
func TestConcurrentEndsHaveOneWinner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for range 5 {
			id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
			_, err := d.start(id, "job-1")
			require.NoError(t, err)
			ends := []func() error{
				func() error { return d.complete(id, postroom.UndoHint{}) },
				func() error { return d.fail(id, "broken") },
				func() error { return d.cancel(id, "unwanted") },
			}
			errs := make([]error, len(ends))
			var wg sync.WaitGroup
			for i, end := range ends {
				wg.Go(func() { errs[i] = end() })
			}
			wg.Wait()
			won := d.get(id).State
			wins := 0
			for _, err := range errs {
				if err == nil {
					wins++
					continue
				}
				var state *StateError
				require.ErrorAs(t, err, &state)
				require.Equal(t, won, state.State)
			}
			require.Equal(t, 1, wins)
		}
	})
}
