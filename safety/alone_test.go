package safety

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/internal/decisiontest"
)

// checks are the checks that ask about the decision.
func (d *desk) checks(a postroom.Action) []gate.Override {
	rec, err := d.ledger.Decision(d.t.(*testing.T).Context(), a.DecisionID)
	require.NoError(d.t, err)
	return rec.Verdict.Overrides
}

// TestWhatAModelDoesAlone is what the policy lists, and no change of a place under the name of a label.
func TestWhatAModelDoesAlone(t *testing.T) {
	snoozed := model(postroom.Snooze, 1)
	snoozed.Parameters = postroom.Parameters{"amount": 1, "units": "days", "label": "TRASH"}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for name, tc := range map[string]struct {
			decision postroom.Decision
			waits    bool
		}{
			"a label":               {model(postroom.ApplyLabel, 1, "label", "Label_7"), false},
			"archive":               {model(postroom.Archive, 1), false},
			"move":                  {model(postroom.Move, 1, "label", "Label_7"), false},
			"trash":                 {model(postroom.Trash, 1), true},
			"restore":               {model(postroom.Restore, 1), false},
			"a task":                {model(postroom.CreateTask, 1, "title", "pay"), true},
			"trash as a label":      {model(postroom.ApplyLabel, 1, "label", "TRASH"), true},
			"spam as a label":       {model(postroom.ApplyLabel, 1, "label", "spam"), true},
			"moved to spam":         {model(postroom.Move, 1, "label", "SPAM"), true},
			"snoozed in the trash":  {snoozed, true},
			"moved to the trash":    {model(postroom.Move, 1, "label", "TRASH"), true},
			"out of spam":           {model(postroom.RemoveLabel, 1, "label", "SPAM"), true},
			"archived as a label":   {model(postroom.RemoveLabel, 1, "label", "INBOX"), true},
			"a task of a rule":      {with(rule(postroom.CreateTask, ""), "title", "pay"), false},
			"trash by a rule's own": {with(rule(postroom.ApplyLabel, ""), "label", "TRASH"), false},
		} {
			a := d.record(message("a@example.com"), tc.decision)
			require.Equal(t, tc.waits, a.State == postroom.ActionPendingApproval, name)
			require.Equal(t, tc.waits, slices.Contains(d.checks(a), gate.OverrideModel), name)
		}
	})
}

func with(d postroom.Decision, parameter, value string) postroom.Decision {
	d.Parameters = postroom.Parameters{parameter: value}
	return d
}

func TestThePolicyListsWhatAModelDoesAlone(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) {
		c.Policy.ModelUnattended = []postroom.ActionType{postroom.CreateTask}
	})
	require.Equal(t, postroom.ActionQueued,
		d.record(message("a@example.com"), model(postroom.CreateTask, 1, "title", "pay")).State)
	require.Equal(t, postroom.ActionPendingApproval, d.record(message("a@example.com"), model(postroom.Archive, 1)).State)
	require.Equal(t, postroom.ActionCompleted, d.record(message("a@example.com"), model(postroom.None, 1)).State)

	for want, p := range map[string]gate.Policy{
		"Policy.ModelUnattended[1] is delete, which is dangerous": {ModelUnattended: []postroom.ActionType{postroom.Archive, postroom.Delete}},
		`Policy.ModelUnattended[0] is "explode"`:                  {ModelUnattended: []postroom.ActionType{"explode"}},
		"Policy.ModelShare is 1.5":                                {ModelShare: 1.5},
		"Policy.ModelShare is -1":                                 {ModelShare: -1},
		"Policy.ModelFree is -1":                                  {ModelFree: -1},
	} {
		_, err := gate.New(p, everyKind())
		require.ErrorContains(t, err, want)
	}
}

// TestTheShareOfADay: models take no more messages out of the inbox than their share, by account and day; what a
// person has approved, and what rules do, is not theirs.
func TestTheShareOfADay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Policy.ModelFree, c.Policy.ModelShare = 3, 0.25 })
		n := 0
		another := func() *postroom.Message { // of another sender
			n++
			return received(fmt.Sprintf("a@sender%d.example", n))
		}
		decide := func(dec postroom.Decision) postroom.ActionState { return d.record(another(), dec).State }
		for range 3 {
			require.Equal(t, postroom.ActionQueued, decide(model(postroom.Archive, 1)))
			require.Equal(t, postroom.ActionQueued, decide(rule(postroom.Archive, "")))
		}
		late := d.record(another(), model(postroom.Archive, 1))
		require.Equal(t, []gate.Override{gate.OverrideShare}, d.checks(late))
		require.Equal(t, "models have taken 3 messages that no list sends out of the inbox within a day, and 6 came that count",
			d.waiting(t)[0].Approval.Reasons[0])
		require.Equal(t, postroom.ActionQueued, decide(model(postroom.Star, 1)), "a star hides nothing")
		other := message("a@example.com")
		other.AccountID = "account-2"
		require.Equal(t, postroom.ActionQueued, d.record(other, model(postroom.Archive, 1)).State, "another account")

		for range 8 {
			decide(rule(postroom.Star, ""))
		}
		require.Equal(t, postroom.ActionQueued, decide(model(postroom.Move, 1, "label", "Label_7")), "3 of 16")
		require.Equal(t, postroom.ActionPendingApproval,
			decide(model(postroom.Snooze, 1, "until", d.now.Add(time.Hour).Format(time.RFC3339))), "4 of 17")
		d.now = d.now.Add(24*time.Hour + time.Minute)
		require.Equal(t, postroom.ActionQueued, decide(model(postroom.Archive, 1)), "another day")
	})
}

// TestTheShareOfManyAtOnce: decisions that are recorded side by side are counted one after the other.
func TestTheShareOfManyAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) {
			c.Policy.ModelFree, c.Policy.ModelShare = 3, 0.01
			c.Execute, c.Ask = func(context.Context, queue.Tx, postroom.Action) error { return nil }, nil
		})
		var wg sync.WaitGroup
		states := make([]postroom.ActionState, 12)
		for i := range states {
			wg.Go(func() { states[i] = d.record(message("a@example.com"), model(postroom.Archive, 1)).State })
		}
		wg.Wait()
		passed := slices.DeleteFunc(states, func(s postroom.ActionState) bool { return s != postroom.ActionQueued })
		require.Len(t, passed, 3)
	})
}

// TestNoModelGetsFurther: whatever a model decides, about whatever mail, nothing dangerous and no more than the share
// passes.
func TestNoModelGetsFurther(t *testing.T) {
	db := dbtest.SQLite(t)
	base := newDesk(t, db, func(c *Config) { c.Policy.ModelFree, c.Policy.ModelShare = 2, 0.3 })
	rapid.Check(t, func(t *rapid.T) {
		d := *base
		d.t = t
		account := rapid.StringMatching(`[a-z]{12}`).Draw(t, "account")
		hidden, decided := 0, 0
		for range rapid.IntRange(1, 30).Draw(t, "messages") {
			dec := decisiontest.Draw(t)
			dec.Source, dec.Rationale = postroom.SourceModel, "the mail says so"
			dec.Parameters = postroom.Parameters{
				"label": rapid.SampledFrom([]string{"Label_1", "INBOX", "TRASH", "SPAM", "UNREAD"}).Draw(t, "label"), "to": "mallory@example.com",
				"body": "yes", "note": "n", "title": "t", "amount": 1, "units": "days",
			}
			msg := message("a@example.com")
			msg.AccountID = account
			state := d.record(msg, dec).State
			decided++
			if state != postroom.ActionQueued {
				continue
			}
			require.NotEqual(t, postroom.Dangerous, everyKind().Danger(dec.Action))
			require.Contains(t, d.ledger.gate.Policy().ModelUnattended, dec.Action)
			if slices.Contains([]postroom.ActionType{postroom.Archive, postroom.Move, postroom.Snooze, postroom.Trash},
				dec.Action) {
				hidden++
				require.LessOrEqual(t, float64(hidden-1), max(2, 0.3*float64(decided)))
			}
			if kind, _ := everyKind().Kind(dec.Action); kind.Effect != nil && dec.Action != postroom.Trash &&
				dec.Action != postroom.Restore {
				change := kind.Effect(dec.Parameters).Change
				require.NotContains(t, strings.Join(append(change.Add, change.Remove...), " "), "TRASH")
				require.NotContains(t, strings.Join(append(change.Add, change.Remove...), " "), "SPAM")
			}
		}
	})
}

// TestTheShareIsOfMessages: several decisions about one message make no more mail.
func TestTheShareIsOfMessages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(c *Config) { c.Policy = gate.Policy{ModelFree: 1, ModelShare: 0.5} })
		for i := range 10 {
			msg := received(fmt.Sprintf("a@sender%d.example", i))
			for i, action := range []postroom.ActionType{postroom.MarkRead, postroom.Star, postroom.Archive, postroom.None} {
				dec := rule(action, "")
				dec.Key = strconv.Itoa(i)
				d.record(msg, dec)
			}
			batch := rule(postroom.Archive, "")
			batch.Key = postroom.BatchKeyPrefix + "batch-1:1"
			d.record(message("old@example.com"), batch)
		}
		taken := 0
		archive := model(postroom.Archive, 1)
		for d.record(received(fmt.Sprintf("b@other%d.example", taken)), archive).State == postroom.ActionQueued {
			taken++
		}
		require.Equal(t, 9, taken, "nine of the nineteen messages that came")
	})
}
