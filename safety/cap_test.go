package safety

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// TestCaps: what is beyond a cap waits for a person, by account, kind, source and time; what people have approved
// does not count.
func TestCaps(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Policy.Caps = []limits.Cap{
				{Actions: []postroom.ActionType{postroom.Trash, postroom.Archive}, Source: postroom.SourceDeterministic, Most: 2, Window: time.Hour},
				{Actions: []postroom.ActionType{postroom.Star}, Most: 3, Window: time.Hour},
				{AccountID: "account-2", Most: 0, Window: time.Hour},
			}
		})
		decide := func(dec postroom.Decision) bool {
			a := d.record(message("a@example.com"), dec)
			waits := slices.Contains(d.checks(a), gate.OverrideCap)
			require.Equal(t, waits, a.State == postroom.ActionPendingApproval)
			return waits
		}
		require.False(t, decide(rule(postroom.Trash, "")))
		require.False(t, decide(rule(postroom.Archive, "")))
		require.True(t, decide(rule(postroom.Trash, postroom.SafeDangerousOverride)), "no safe mode releases it")
		require.Equal(t, "the cap is reached: 2 trash, archive within 1h0m0s by rules without a person",
			d.waiting(t)[0].Approval.Reasons[0])
		_, err := d.approve(d.waiting(t)[0].Action.ID, "ann")
		require.NoError(t, err)
		require.False(t, decide(model(postroom.Archive, 1)), "models are not in this cap")
		require.False(t, decide(rule(postroom.MarkRead, "")), "nor is this kind")
		require.False(t, decide(rule(postroom.None, "")))

		require.False(t, decide(rule(postroom.Star, "")))
		require.False(t, decide(model(postroom.Star, 1)))
		require.False(t, decide(rule(postroom.Star, "")))
		require.True(t, decide(model(postroom.Star, 1)), "both sources together")

		other := message("a@example.com")
		other.AccountID = "account-2"
		require.Equal(t, []gate.Override{gate.OverrideCap}, d.checks(d.record(other, rule(postroom.MarkRead, ""))))
		d.now = d.now.Add(time.Hour - time.Second)
		require.True(t, decide(rule(postroom.Trash, "")), "they are not an hour old by a second")
		d.now = d.now.Add(time.Second)
		require.False(t, decide(rule(postroom.Trash, "")))
	})
}

// TestACapOfManyAtOnce: processes that share the database let no more pass than one would.
func TestACapOfManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		bounded := func(c *Config) {
			c.Policy.Caps = []limits.Cap{{Actions: []postroom.ActionType{postroom.Trash}, Most: 5, Window: time.Hour}}
			c.Execute, c.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		}
		desks := []*desk{newDesk(t, db, bounded), newDesk(t, db, bounded)}
		var wg sync.WaitGroup
		states := make([]postroom.ActionState, 16)
		for i := range states {
			wg.Go(func() { states[i] = desks[i%2].record(message("a@example.com"), rule(postroom.Trash, "")).State })
		}
		wg.Wait()
		require.Len(t, slices.DeleteFunc(states, func(s postroom.ActionState) bool { return s != postroom.ActionQueued }), 5)
	})
}

// TestNoMoreThanTheCap: whatever is decided, and whenever.
func TestNoMoreThanTheCap(t *testing.T) {
	db := dbtest.SQLite(t)
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 5).Draw(t, "most")
		d := &desk{t: t, db: db, now: time.Now()}
		var err error
		d.ledger, err = NewLedger(Config{
			DB: db, Kinds: everyKind(), Policy: gate.Policy{Caps: []limits.Cap{{Most: most, Window: time.Hour}}},
			Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
		})
		require.NoError(t, err)
		require.NoError(t, Migrate(context.Background(), db))
		account := rapid.StringMatching(`[a-z]{12}`).Draw(t, "account")
		var passed []time.Time
		for range rapid.IntRange(1, 30).Draw(t, "messages") {
			d.now = d.now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "minutes")) * time.Minute)
			msg := message("a@example.com")
			msg.AccountID = account
			if d.record(msg, rule(postroom.Archive, "")).State == postroom.ActionQueued {
				passed = append(passed, d.now)
			}
			passed = slices.DeleteFunc(passed, func(at time.Time) bool { return !at.After(d.now.Add(-time.Hour)) })
			require.LessOrEqual(t, len(passed), most)
		}
	})
}
