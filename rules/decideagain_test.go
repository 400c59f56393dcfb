package rules_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A person has rejected a label: the model is told so, and may decide otherwise, once, and not the same.
func TestTheModelIsAskedOnceMore(t *testing.T) {
	const why = "it is from my sister"
	rejected := rules.Rejection{ActionID: "a1", Rejection: postroom.Rejection{Action: postroom.ApplyLabel,
		Parameters: postroom.Parameters{"label": "Label_7"}, What: "put on the label Shops", Why: why}}
	for want, answer := range map[string]postroom.Decision{
		"archive": {Action: postroom.Archive, Confidence: 1, Rationale: "dull"},
		"none": {Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "shops"}, Confidence: 1,
			Rationale: "a shop"},
	} {
		c := newClassification(t)
		asked := 0
		c.cfg.Fallback = postroom.DeciderFunc(func(ctx context.Context, _ *postroom.Message) (postroom.Decision, error) {
			r, again := postroom.RejectionFrom(ctx)
			require.True(t, again)
			require.Equal(t, why, r.Why)
			asked++
			return answer, nil
		})
		job, err := rules.NewDecideAgainJob("acc", "m1", &rejected, postroom.Decision{})
		require.NoError(t, err)
		first, err := c.q.Enqueue(t.Context(), job)
		require.NoError(t, err)
		second, err := c.q.Enqueue(t.Context(), job)
		require.NoError(t, err)
		require.Equal(t, first.ID, second.ID)
		d, err := queue.NewDispatcher(c.q, nil)
		require.NoError(t, err)
		require.NoError(t, rules.Register(d, c.cfg))
		require.NoError(t, d.RunUntilIdle(t.Context()))
		require.Equal(t, 1, asked)
		require.Equal(t, []string{want}, actionsOf(c.ledger.recorded))
		require.Equal(t, rules.AgainKey+first.ID, c.ledger.recorded[0].Key)
		if want == "none" {
			require.Contains(t, c.ledger.recorded[0].Rationale, "gave what you had rejected")
		}
		_, err = rules.NewDecideAgainJob("acc", "m1", &rejected, c.ledger.recorded[0])
		require.ErrorIs(t, err, rules.ErrDecidedAgain)
	}
}
