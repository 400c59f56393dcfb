package safety

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// withBreaker is a desk with a breaker, and what it is told.
func withBreaker(t *testing.T, db queue.DB, b limits.Breaker) (*desk, *[]events.Event) {
	told := new([]events.Event)
	return newDesk(t, db, func(c *Config) {
		c.Policy.Breaker = b
		c.Notify = func(_ context.Context, _ queue.Tx, e events.Event) error {
			*told = append(*told, e)
			return nil
		}
	}), told
}

func (d *desk) closeBreakers(by string) (n int, err error) {
	err = d.write(func(ctx context.Context, tx queue.Tx) error {
		n, err = d.ledger.Breakers().Close(ctx, tx, "", by, "looked at it")
		return err
	})
	return n, err
}

// TestTheBreakerOpensOnUnusualRates: it stops one source of one account, tells once, and closes by a person or in time.
func TestTheBreakerOpensOnUnusualRates(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, told := withBreaker(t, db, limits.Breaker{Actions: 3, OpenFor: 2 * time.Hour})
		star := func() postroom.Action { return d.record(message("a@example.com"), rule(postroom.Star, "")) }
		queued := star()
		star()
		begun := star()
		_, err := d.start(begun.ID, "job-0")
		require.NoError(t, err)
		late := star()
		require.Equal(t, []gate.Override{gate.OverrideBreaker}, d.checks(late))
		require.Equal(t, "what rules decide is stopped: rules have done 3 actions within 1h0m0s",
			d.waiting(t)[0].Approval.Reasons[0])
		require.Equal(t, []gate.Override{gate.OverrideBreaker}, d.checks(star()))
		require.Len(t, *told, 1, "a person is told once")
		require.Equal(t, events.BreakerOpened, (*told)[0].Kind)

		for _, id := range []string{queued.ID, begun.ID} {
			_, err := d.start(id, "job-0")
			require.ErrorIs(t, err, postroom.ErrHeld)
			require.ErrorContains(t, err, "what rules decide is stopped since ")
		}
		_, err = d.approve(late.ID, "ann")
		require.NoError(t, err)
		_, err = d.start(late.ID, "job-1")
		require.NoError(t, err, "a person has approved it")
		require.Equal(t, postroom.ActionQueued, d.record(message("a@example.com"), model(postroom.Star, 1)).State,
			"models are not stopped")
		other := message("a@example.com")
		other.AccountID = "account-2"
		require.Equal(t, postroom.ActionQueued, d.record(other, rule(postroom.Star, "")).State)
		open, err := d.ledger.Breakers().Open(t.Context())
		require.NoError(t, err)
		require.Len(t, open, 1)
		require.Contains(t, open[0].String(), "rules have done 3 actions within 1h0m0s")

		_, err = d.closeBreakers(" ")
		require.ErrorContains(t, err, "is blank")
		n, err := d.closeBreakers("ann")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, events.BreakerClosed, (*told)[1].Kind)
		_, err = d.start(queued.ID, "job-2")
		require.NoError(t, err)
		n, err = d.closeBreakers("ann")
		require.NoError(t, err)
		require.Zero(t, n, "twice")

		d.now = d.now.Add(time.Millisecond)
		for range 3 {
			require.Equal(t, postroom.ActionQueued, star().State, "what was before does not count any more")
		}
		require.Equal(t, postroom.ActionPendingApproval, star().State)
		require.Len(t, *told, 3)
		d.now = d.now.Add(2 * time.Hour)
		require.Equal(t, postroom.ActionQueued, star().State, "it closes by itself")
		require.Len(t, *told, 3)
	})
}

// TestTheBreakerOpensOnFailuresAndUndos of what the source has decided.
func TestTheBreakerOpensOnFailuresAndUndos(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d, told := withBreaker(t, db, limits.Breaker{Failures: 2, Undos: 2})
		for i := range 2 {
			require.Len(t, *told, 0, i)
			a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
			_, err := d.start(a.ID, "job-1")
			require.NoError(t, err)
			require.NoError(t, d.fail(a.ID, "Gmail says no"))
		}
		require.Equal(t, "2 actions of rules failed within 1h0m0s", (*told)[0].Why)
		require.Equal(t, postroom.ActionPendingApproval, d.record(message("a@example.com"), rule(postroom.Archive, "")).State)
		_, err := d.closeBreakers("ann")
		require.NoError(t, err)
		d.now = d.now.Add(time.Millisecond)

		done := []postroom.Action{d.completed(), d.completed(), d.completed()}
		for i, a := range done {
			undo, err := d.undo(a.ID, "job-"+a.ID)
			require.NoError(t, err, "an undo is never held by a breaker")
			require.NoError(t, d.complete(undo.ID, postroom.UndoHint{}))
			require.Equal(t, i >= 1, len(*told) == 3)
		}
		require.Equal(t, "2 actions of rules were undone within 1h0m0s", (*told)[2].Why)
	})
}

func TestTheBreakerIsChecked(t *testing.T) {
	for want, b := range map[string]limits.Breaker{
		"Policy.Breaker.Actions is -1":   {Actions: -1},
		"Policy.Breaker.Failures is -1":  {Failures: -1},
		"Policy.Breaker.Undos is -1":     {Undos: -1},
		"Policy.Breaker.Window is 1s":    {Window: time.Second},
		"Policy.Breaker.OpenFor is -1ns": {OpenFor: -1},
	} {
		_, err := gate.New(gate.Policy{Breaker: b}, nil)
		require.ErrorContains(t, err, want)
	}
}

// TestTheBreakerOfManyAtOnce: whoever opens it, it is told of once.
func TestTheBreakerOfManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Policy.Breaker = limits.Breaker{Actions: 1} })
		d.record(message("a@example.com"), rule(postroom.Archive, ""))
		errs := make(chan error, 8)
		for range cap(errs) {
			go func() {
				errs <- d.write(func(ctx context.Context, tx queue.Tx) error {
					_, err := d.ledger.breakers.Stopped(ctx, tx, "account-1", postroom.SourceDeterministic)
					return err
				})
			}()
		}
		for range cap(errs) {
			require.NoError(t, <-errs)
		}
		list, err := d.ledger.Events().List(t.Context(), 100)
		require.NoError(t, err)
		require.Len(t, list, 1)
	})
}

// TestActionsWaitForTheEndOfQuietHours, unless they are listed.
func TestActionsWaitForTheEndOfQuietHours(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Policy.Quiet = limits.Quiet{Spans: []limits.QuietSpan{{From: 22 * time.Hour, To: 7 * time.Hour}},
				May: []postroom.ActionType{postroom.MarkRead}}
		})
		d.now = time.Date(2026, 11, 25, 21, 0, 0, 0, time.UTC)
		done, begun := d.completed(), d.record(message("a@example.com"), rule(postroom.Archive, ""))
		_, err := d.start(begun.ID, "job-1")
		require.NoError(t, err)
		d.now = d.now.Add(2 * time.Hour)
		archive, read := d.record(message("a@example.com"), rule(postroom.Archive, "")),
			d.record(message("a@example.com"), rule(postroom.MarkRead, ""))
		_, err = d.start(archive.ID, "job-1")
		var held *postroom.HeldError
		require.ErrorAs(t, err, &held)
		require.Equal(t, time.Date(2026, 11, 26, 7, 0, 0, 0, time.UTC), held.Until)
		for _, id := range []string{read.ID, begun.ID} {
			_, err = d.start(id, "job-1")
			require.NoError(t, err)
		}
		_, err = d.undo(done.ID, "job-2")
		require.NoError(t, err)
		d.now = held.Until
		_, err = d.start(archive.ID, "job-1")
		require.NoError(t, err)
		require.True(t, slices.Contains(d.executed, archive.ID))
	})
}
