package safety

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// TestNothingIsSentAboutOldMail: a rule that may send without a person does so about fresh mail only.
func TestNothingIsSentAboutOldMail(t *testing.T) {
	const day = 24 * time.Hour
	forward := rule(postroom.Forward, postroom.SafeDangerousOverride)
	forward.RuleVersion, forward.Parameters = "v1", postroom.Parameters{"to": []string{"boss@example.com"}}
	applied := forward
	applied.Key = postroom.BatchKeyPrefix + "spring:1"
	for name, tc := range map[string]struct {
		age      time.Duration // negative: unknown
		policy   time.Duration
		decision postroom.Decision
		state    postroom.ActionState
		reason   string
	}{
		"fresh":                       {age: 71 * time.Hour, state: postroom.ActionQueued},
		"of last week":                {age: 7 * day, state: postroom.ActionPendingApproval, reason: "the message came 7 days ago"},
		"of last month":               {age: 31 * day, state: postroom.ActionCanceled, reason: "the message came 31 days ago"},
		"of an unknown time":          {age: -1, state: postroom.ActionPendingApproval, reason: "it is not known when the message came"},
		"old, by a person's batch":    {age: 900 * day, decision: applied, state: postroom.ActionQueued},
		"old, of any age":             {age: 900 * day, policy: -1, state: postroom.ActionQueued},
		"old, within a longer age":    {age: 40 * day, policy: 50 * day, state: postroom.ActionQueued},
		"beyond a longer age":         {age: 51 * day, policy: 50 * day, state: postroom.ActionCanceled, reason: "older than 50 days"},
		"hours, beyond a shorter age": {age: 5 * time.Hour, policy: time.Hour, state: postroom.ActionPendingApproval, reason: "the message came 5 hours ago"},
		"old, and nothing is sent":    {age: 900 * day, decision: archived(), state: postroom.ActionQueued},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newDesk(t, db, func(c *Config) {
					c.Policy.SendAge = tc.policy
					c.Rules = shelf{"rule-1": {
						ID: "rule-1", Name: "Receipts", Version: "v1", Enabled: true, SafeMode: postroom.SafeDangerousOverride,
						Actions: []postroom.RuleAction{{Type: postroom.Forward, Parameters: forward.Parameters},
							{Type: postroom.Archive}},
					}}
				})
				msg, decision := message("a@example.com"), tc.decision
				if msg.ReceivedAt = time.Now().Add(-tc.age - time.Minute); tc.age < 0 {
					msg.ReceivedAt = time.Time{}
				}
				if decision.Action == "" {
					decision = forward
				}
				a := d.record(msg, decision)
				require.Equal(t, tc.state, a.State, a.Error)
				rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
				require.NoError(t, err)
				if tc.state == postroom.ActionCanceled {
					require.Contains(t, a.Error, tc.reason)
					return
				}
				require.Equal(t, tc.reason != "", len(rec.Verdict.Reasons) > 0, rec.Verdict.Reasons)
				if tc.reason != "" {
					require.Contains(t, rec.Verdict.Reasons, tc.reason)
				}
			})
		})
	}
}

func archived() postroom.Decision {
	d := rule(postroom.Archive, "")
	d.RuleVersion = "v1"
	return d
}
