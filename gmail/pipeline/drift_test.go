package pipeline

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/gate"
)

// A rule asks once a person has moved back three of the last mails that it has archived, until the person says that it
// is right again.
func TestARuleThatIsCorrectedAsks(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var told []events.Event
		cfg := Config{Learn: &Learn{}, Rules: rulesOf(map[string]string{ada: archives})}
		cfg.Safety.Notify = func(_ context.Context, _ queue.Tx, e events.Event) error {
			if strings.HasPrefix(string(e.Kind), "drift") {
				told = append(told, e)
			}
			return nil
		}
		p := w.pipeline(cfg)
		id := w.add(p, ada)
		sent := 0
		receive := func(n int) {
			for range n {
				sent++
				w.deliver(ada, strings.Replace(tea, "Subject: ", fmt.Sprintf("Subject: %d ", sent), 1))
			}
			w.settle(p)
		}
		receive(4)
		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		for i, e := range w.actions(p, id)[:3] {
			require.Equal(t, postroom.ActionCompleted, e.Action.State)
			require.NoError(t, account.Person().MoveToInbox(t.Context(), e.Action.ProviderMessageID))
			w.settle(p)
			require.Len(t, told, i)
		}
		require.Equal(t, []events.Kind{events.DriftWarns, events.DriftAsks}, []events.Kind{told[0].Kind, told[1].Kind})
		require.Equal(t, `what the rule "Tea" decides: of the last 4 messages on which it has acted, you have corrected some in 3 `+
			"conversations",
			told[1].Why)
		require.Equal(t, postroom.SourceDeterministic, told[1].Source)

		receive(1)
		last := w.actions(p, id)[0]
		require.Equal(t, postroom.ActionPendingApproval, last.Action.State)
		require.Equal(t, []gate.Override{gate.OverrideDrift}, last.Decision.Verdict.Overrides)
		drifts, err := p.Lessons.Drifts(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, drifts, 1)
		require.NoError(t, p.RightAgain(t.Context(), id, drifts[0].RuleID, "ada"))
		require.ErrorIs(t, p.RightAgain(t.Context(), id, drifts[0].RuleID, "ada"), lessons.ErrRight)
		require.Equal(t, events.DriftEnded, told[2].Kind)
		require.Equal(t, "ada", told[2].By)
		receive(1)
		require.Equal(t, postroom.ActionCompleted, w.actions(p, id)[0].Action.State)
	})
}

// A correction is about the action that it contradicts, although another one was carried out after that.
func TestACorrectionIsOfTheActionThatItContradicts(t *testing.T) {
	const both = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: archive, stop: false}\n" +
		"  - {name: Read, condition: {type: subject_contains, value: tea}, action: mark_read}\n"
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Learn: &Learn{}, Rules: rulesOf(map[string]string{ada: both})})
		id := w.add(p, ada)
		w.deliver(ada, tea)
		w.settle(p)
		done := w.actions(p, id)
		require.Len(t, done, 2)
		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		require.NoError(t, account.Person().MoveToInbox(t.Context(), done[0].Action.ProviderMessageID))
		w.settle(p)
		list, err := p.Lessons.Corrections(t.Context(), id, 10)
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Equal(t, postroom.Archive, list[0].Proposed.Act.Action)
		require.Equal(t, lessons.Wrong, list[0].Says)
	})
}
