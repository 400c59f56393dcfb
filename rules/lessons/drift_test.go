package lessons

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A drifting is a rule that acts, and a person who corrects it.
type drifting struct {
	*world
	did  []postroom.Action // the newest last
	by   postroom.Decision
	told []Drift

	counted int // how often it was asked what the decider has done

	thread func(messageID string) (string, error) // nil: each message is a conversation of its own
}

// driftWorld has a rule that archives the shop's mail, in force.
func driftWorld(t *testing.T, test func(d *drifting)) {
	d := &drifting{}
	each(t, func(w *world) {
		*d = drifting{world: w}
		file := &rulesfile.File{Rules: []rules.Rule{{Name: "Shop", Enabled: true, Action: postroom.Archive,
			Condition: rules.Condition{Type: "sender_email", Value: shop}}}}
		w.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := w.rules.Import(ctx, tx, ada.ID, file.Rules)
			return err
		})
		list, err := w.rules.ListOf(w.Context(), ada.ID)
		require.NoError(w, err)
		d.by = postroom.Decision{RuleID: list[0].ID, RuleName: "Shop", RuleVersion: list[0].Version(),
			Source: postroom.SourceDeterministic, Action: postroom.Archive}
		test(d)
	}, func(_ *world, cfg *Config) {
		cfg.Acted = func(_ context.Context, _ queue.Tx, q Acting) ([]string, error) {
			d.counted++
			return d.acted(q), nil
		}
		cfg.Thread = func(_ context.Context, _ queue.Tx, _, messageID string) (string, error) {
			if d.thread == nil {
				return "", nil
			}
			return d.thread(messageID)
		}
		cfg.Drifted = func(_ context.Context, _ queue.Tx, drift Drift) error {
			d.told = append(d.told, drift)
			return nil
		}
	})
}

// acted are the messages on which the decider of now has acted.
func (d *drifting) acted(q Acting) (list []string) {
	if q.RuleID != d.by.RuleID || q.RuleVersion != d.by.RuleVersion {
		return nil
	}
	for _, a := range slices.Backward(d.did) {
		if !a.ExecutedAt.Before(q.Since) && len(list) < q.Most {
			list = append(list, a.MessageID)
		}
	}
	return list
}

// acts has the decider act on messages.
func (d *drifting) acts(n int) (list []postroom.Action) {
	d.Helper()
	var now time.Time // by the clock that says from when on a drift is counted
	d.write(func(_ context.Context, tx queue.Tx) error { now = queue.Now(tx); return nil })
	for range n {
		id := fmt.Sprint("m", len(d.did))
		a := postroom.Action{ID: "a" + id, AccountID: ada.ID, MessageID: id, Type: postroom.Archive, ExecutedAt: now}
		d.did, list = append(d.did, a), append(list, a)
	}
	return list
}

func (d *drifting) undo(actions ...postroom.Action) {
	d.Helper()
	for _, a := range actions {
		d.write(func(ctx context.Context, tx queue.Tx) error {
			return d.store.Undone(ctx, tx, a, DecidedOf(a, d.by), "ada")
		})
	}
}

// slowly has the corrections made an hour apart so far, as by a person.
func (d *drifting) slowly() {
	d.Helper()
	for i, c := range d.corrections() {
		d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := dbquery.Exec(ctx, tx, "UPDATE feedback SET created_at = $1 WHERE id = $2",
				dbtime.Of(time.Now().Add(time.Duration(-i-1)*time.Hour)), c.ID)
			return err
		})
	}
}

// countBulk answers for n corrections in bulk.
func (d *drifting) countBulk(n int, count bool) {
	d.Helper()
	got, err := d.store.CountBulk(d.Context(), ada.ID, n, count)
	require.NoError(d, err)
	require.Equal(d, n, got)
}

func (d *drifting) asks() (why string) {
	d.Helper()
	d.write(func(ctx context.Context, tx queue.Tx) (err error) {
		why, err = d.store.Asks(ctx, tx, ada.ID, d.by)
		return err
	})
	return why
}

func (d *drifting) states() (states []DriftState) {
	for _, t := range d.told {
		states = append(states, t.State)
	}
	return states
}

func (d *drifting) rightAgain() error {
	return d.db.Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := d.store.RightAgain(ctx, tx, ada.ID, d.by.RuleID, "ada")
		return err
	})
}

func TestOfTwentyTwoCorrectionsWarnAndThreeAsk(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		d.undo(d.acts(9)...) // all of these are too old by now
		require.NoError(d, d.rightAgain())
		d.told = nil
		list := d.acts(25)
		d.undo(list[4], list[5]) // of the last 20, only one
		require.Empty(d, d.told)
		d.undo(list[6], list[6])
		require.Equal(d, []DriftState{DriftWarns}, d.states())
		require.Empty(d, d.asks())
		d.write(func(ctx context.Context, tx queue.Tx) error {
			return d.store.Redone(ctx, tx, list[5], DecidedOf(list[5], d.by), "ada") // it was right after all
		})
		d.undo(list[7])
		require.Equal(d, []DriftState{DriftWarns}, d.states(), "it was told of")
		d.write(func(ctx context.Context, tx queue.Tx) error { // moved back by hand
			return d.store.LabelsChanged(ctx, tx, Change{AccountID: ada.ID, MessageID: list[8].MessageID,
				Change: add("INBOX"), Labels: postroom.NewSnapshot([]string{"INBOX"}), Proposed: DecidedOf(list[8], d.by)})
		})
		require.Equal(d, []DriftState{DriftWarns, DriftAsks}, d.states())
		require.Equal(d, "of the last 20 messages on which it has acted, you have corrected some in 3 conversations, "+
			"so you are asked until you say that it is right again", d.asks())
		d.undo(list[9])
		require.Len(d, d.told, 2)
		drifts, err := d.store.Drifts(d.Context(), ada.ID)
		require.NoError(d, err)
		require.Len(d, drifts, 1)
		require.Equal(d, `what the rule "Shop" decides`, drifts[0].Named())

		d.slowly()
		require.NoError(d, d.rightAgain())
		require.ErrorIs(d, d.rightAgain(), ErrRight)
		require.Empty(d, d.asks())
		d.undo(list[10], list[11], list[12])
		require.Empty(d, d.asks(), "what was done before does not count any more")
		d.undo(d.acts(3)...)
		require.NotEmpty(d, d.asks())
		d.write(func(ctx context.Context, tx queue.Tx) error { return Forget(ctx, tx, ada.ID) })
		require.Empty(d, d.asks())
	})
}

// A rule that was changed begins anew, and a decision of an earlier version is not asked about because of a later one.
func TestAChangedRuleHasNotDrifted(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		d.undo(d.acts(3)...)
		require.NotEmpty(d, d.asks())
		d.by.RuleVersion, d.did = "another", nil
		require.Empty(d, d.asks())
		d.undo(d.acts(2)...)
		require.Equal(d, []DriftState{DriftWarns, DriftAsks, DriftWarns}, d.states())
		drifts, err := d.store.Drifts(d.Context(), ada.ID)
		require.NoError(d, err)
		require.Len(d, drifts, 1, "the rule in use has the first version")
		require.Equal(d, DriftAsks, drifts[0].State)

		now, acted := d.by.RuleVersion, d.did
		d.by.RuleVersion = drifts[0].version
		require.NotEmpty(d, d.asks(), "a correction of what another version did changes nothing")
		require.NoError(d, d.rightAgain())
		require.Empty(d, d.asks())
		require.ErrorIs(d, d.rightAgain(), ErrRight)
		d.by.RuleVersion, d.did = now, acted
		d.undo(d.acts(1)...)
		require.Empty(d, d.asks(), "all versions begin anew")
	})
}

// What many corrections at once have made ask asks no more until a person says that they count.
func TestCorrectionsInBulkAreNoDriftUntilAPersonSaysSo(t *testing.T) {
	for _, count := range []bool{true, false} {
		t.Run(fmt.Sprint("they count ", count), func(t *testing.T) {
			driftWorld(t, func(d *drifting) {
				list := d.acts(20)
				d.undo(list...)
				require.NotEmpty(d, d.asks(), "twenty may be a person's")
				require.Equal(d, []DriftState{DriftWarns, DriftAsks}, d.states())
				d.move("Label_1", d.receive(shop, 1, 0)...) // which corrects nothing, and is one too many
				require.Empty(d, d.asks())
				require.Equal(d, []DriftState{DriftWarns, DriftAsks, DriftRight}, d.states())
				d.undo(d.acts(1)...)
				require.Empty(d, d.asks())

				d.countBulk(22, count)
				require.Equal(d, count, d.asks() != "")
				if count {
					require.Equal(d, DriftAsks, d.told[len(d.told)-1].State)
				}
				require.Len(d, d.told, map[bool]int{true: 4, false: 3}[count])
			})
		})
	}
}

// What was asked about before the corrections in bulk goes on, and so does a warning.
func TestCorrectionsInBulkEndNoDriftBeforeThem(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		d.undo(d.acts(2)...)
		d.slowly()
		list := d.acts(18)
		d.undo(list[0])
		require.NotEmpty(d, d.asks(), "with the two before")
		d.move("Label_1", d.receive(shop, bulkActs, 0)...)
		require.Empty(d, d.asks())
		require.Equal(d, []DriftState{DriftWarns, DriftAsks, DriftWarns}, d.states())
		d.countBulk(bulkActs+1, false)

		d.undo(list[1])
		require.NotEmpty(d, d.asks(), "what comes later counts")
		d.slowly()
		d.write(func(ctx context.Context, tx queue.Tx) error {
			_, err := dbquery.Exec(ctx, tx, "UPDATE decision_drift SET changed_at = $1", dbtime.Of(time.Now().Add(-time.Hour)))
			return err
		})
		d.undo(d.acts(bulkActs + 1)...)
		require.NotEmpty(d, d.asks(), "three slow corrections have made it ask")
	})
}

// Of very many at once the most are looked at no more: whoever moves ten thousand mails must not hold up all else. What
// they correct is counted once a person has said that they count.
func TestVeryManyInBulkAreNotCountedOneByOne(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		const n = 150
		atOnce := func(n int) {
			list := d.acts(n)
			d.write(func(ctx context.Context, tx queue.Tx) (err error) {
				for _, a := range list {
					err = errors.Join(err, d.store.Undone(ctx, tx, a, DecidedOf(a, d.by), "ada"))
				}
				return err
			})
		}
		atOnce(n)
		require.Less(d, d.counted, 50)
		require.Empty(d, d.asks())

		d.by.RuleID = "another" // whose first mail is among the last
		d.did = nil
		atOnce(3)
		require.Less(d, d.counted, 50)
		d.countBulk(n+3, true)
		require.NotEmpty(d, d.asks())
	})
}

func TestVerdictsInBulkWaitForAnAnswer(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		verdicts := func() int {
			list, err := d.store.Verdicts(d.Context(), ada.ID, time.Now().Add(-time.Hour))
			require.NoError(d, err)
			return len(list)
		}
		d.undo(d.acts(bulkActs)...)
		require.Equal(d, bulkActs, verdicts())
		d.undo(d.acts(1)...)
		require.Zero(d, verdicts())
		n, err := d.store.CountBulk(d.Context(), ada.ID, bulkActs+1, true)
		require.NoError(d, err)
		require.Equal(d, n, verdicts())
	})
}

func TestAConversationCountsOnce(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		d.thread = func(messageID string) (string, error) {
			if messageID < "m3" {
				return "t1", nil
			}
			return "", postroom.ErrNotFound
		}
		d.undo(d.acts(3)...)
		require.Empty(d, d.told)
		d.undo(d.acts(2)...)
		require.Equal(d, []DriftState{DriftWarns, DriftAsks}, d.states())
	})
}

func TestModelsDrift(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		d.by = postroom.Decision{Source: postroom.SourceModel, Action: postroom.Archive, Model: "m"}
		d.undo(d.acts(3)...)
		require.NotEmpty(d, d.asks())
		drifts, err := d.store.Drifts(d.Context(), ada.ID)
		require.NoError(d, err)
		require.Equal(d, "what the models decide", drifts[0].Named())
		for _, source := range []postroom.Source{postroom.SourceHost, postroom.SourceNone} {
			d.by.Source = source
			require.Empty(d, d.asks())
			d.undo(d.acts(3)...)
		}
		require.Len(d, d.told, 2)
	})
}

func TestWhatAChangeSaysOfTheActionBefore(t *testing.T) {
	driftWorld(t, func(d *drifting) {
		act := func(kind postroom.ActionType, label string) Decided {
			a := postroom.Action{ID: "a", Type: kind, Parameters: postroom.Parameters{}}
			if label != "" {
				a.Parameters[postroom.ParamLabel] = label
			}
			return DecidedOf(a, d.by)
		}
		for _, c := range []struct {
			did    Decided
			change postroom.LabelChange
			says   Verdict
		}{
			{act(postroom.Archive, ""), add("INBOX"), Wrong},
			{act(postroom.Archive, ""), add("Label_1"), Silent},
			{act(postroom.Archive, ""), remove("INBOX"), Right},
			{act(postroom.Move, "Label_1"), add("INBOX"), Wrong},
			{act(postroom.Move, "Label_1"), remove("Label_1"), Wrong},
			{act(postroom.ApplyLabel, "Label_1"), remove("Label_1"), Wrong},
			{act(postroom.ApplyLabel, "Label_1"), remove("INBOX"), Silent},
			{act(postroom.Trash, ""), remove("TRASH"), Wrong},
			{act(postroom.Star, ""), remove("STARRED"), Silent},
			{act(postroom.MarkRead, ""), add("UNREAD"), Silent},
			{act(postroom.AutoReply, ""), add("INBOX"), Silent},
			{Decided{}, add("INBOX"), Silent},
		} {
			require.Equal(d, c.says, d.store.verdictOf(&Change{Change: c.change, Proposed: c.did}), c)
		}
	})
}
