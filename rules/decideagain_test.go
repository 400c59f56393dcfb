package rules_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A person has rejected a label: the model is told so, and may decide otherwise, once, and not the same.
func TestTheModelIsAskedOnceMore(t *testing.T) {
	const why = "it is from my sister"
	rejected := postroom.Rejection{Action: postroom.ApplyLabel, Parameters: postroom.Parameters{"label": "Label_7"},
		What: "put on the label Shops", Why: why}
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
		c.cfg.Rejected = func(_ context.Context, id string) (postroom.Rejection, error) {
			require.Equal(t, "a1", id)
			return rejected, nil
		}
		job, err := rules.NewDecideAgainJob("acc", "m1", "a1", postroom.Decision{})
		require.NoError(t, err)
		require.Equal(t, rules.DecideAgainPayload{AccountID: "acc", MessageID: "m1",
			Rejected: &rules.Rejection{ActionID: "a1"}}, job.Payload, "no text")
		if want == "none" { // as a version made it that wrote the rejection into the job
			job.Payload = json.RawMessage(`{"account_id":"acc","message_id":"m1","rejected":{"action_id":"a1",` +
				`"action":"apply_label","parameters":{"label":"Label_7"},"what":"put on the label Shops","why":"` + why + `"}}`)
			c.cfg.Rejected = nil
		}
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
		_, err = rules.NewDecideAgainJob("acc", "m1", "a1", c.ledger.recorded[0])
		require.ErrorIs(t, err, rules.ErrDecidedAgain)
	}
}
