package gate

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety/internal/decisiontest"
)

func testGate(t require.TestingT, p Policy) *Gate {
	g, err := New(p, decisiontest.Kinds())
	require.NoError(t, err)
	return g
}

const (
	dangerous = "action is classified as dangerous"
	listed    = "action type is in approval_always list"
	requested = "LLM explicitly requested approval"
)

func TestGate(t *testing.T) {
	with := func(d postroom.Decision, change func(*postroom.Decision)) postroom.Decision {
		change(&d)
		return d
	}
	asks := func(d postroom.Decision) postroom.Decision {
		return with(d, func(d *postroom.Decision) { d.NeedsApproval = true })
	}
	trashWaits := Policy{ApprovalAlways: []postroom.ActionType{postroom.Trash}}
	nothingListed := Policy{ApprovalAlways: []postroom.ActionType{}}

	for name, tc := range map[string]struct {
		policy   Policy
		decision postroom.Decision
		reasons  []string
		released []Override
	}{
		"safe and sure":                       {decision: decisiontest.Model(postroom.Archive, 0.9)},
		"confidence equals threshold":         {decision: decisiontest.Model(postroom.Archive, 0.7)},
		"low confidence":                      {decision: decisiontest.Model(postroom.Archive, 0.45), reasons: []string{"confidence 0.45 is below threshold 0.70"}},
		"hardly below":                        {decision: decisiontest.Model(postroom.Archive, 0.699), reasons: []string{"confidence 0.699 is below threshold 0.700"}},
		"no number":                           {decision: decisiontest.Model(postroom.Archive, math.NaN()), reasons: []string{"confidence NaN is below threshold 0.70"}},
		"own threshold":                       {policy: Policy{ConfidenceThreshold: 0.95}, decision: decisiontest.Model(postroom.Archive, 0.9), reasons: []string{"confidence 0.90 is below threshold 0.95"}},
		"model asks":                          {decision: asks(decisiontest.Model(postroom.Archive, 1)), reasons: []string{requested}},
		"dangerous":                           {decision: decisiontest.Model(postroom.Delete, 1), reasons: []string{dangerous, listed}},
		"dangerous, not listed":               {policy: nothingListed, decision: decisiontest.Model(postroom.Forward, 1), reasons: []string{dangerous}},
		"everything at once":                  {decision: asks(decisiontest.Model(postroom.Delete, 0.1)), reasons: []string{dangerous, "confidence 0.10 is below threshold 0.70", listed, requested}},
		"unknown action":                      {policy: nothingListed, decision: decisiontest.Model("format_disk", 1), reasons: []string{dangerous}},
		"listed by the host":                  {policy: trashWaits, decision: decisiontest.Rule(postroom.Trash, postroom.SafeDefault), reasons: []string{listed}},
		"nobody decided":                      {decision: postroom.Decision{Action: postroom.None, Source: postroom.SourceNone}},
		"nothing is to be done, whoever asks": {decision: asks(postroom.Decision{Action: postroom.None, Source: postroom.SourceNone})},
		"a rule that does nothing and asks":   {policy: Policy{ApprovalAlways: []postroom.ActionType{postroom.None}}, decision: asks(decisiontest.Rule(postroom.None, ""))},

		"rule, default mode": {decision: decisiontest.Rule(postroom.Delete, ""), reasons: []string{dangerous, listed}},
		"always_safe does not release danger": {
			decision: decisiontest.Rule(postroom.Delete, postroom.SafeAlwaysSafe), reasons: []string{dangerous, listed},
		},
		"always_safe releases a listed safe action": {
			policy: trashWaits, decision: decisiontest.Rule(postroom.Trash, postroom.SafeAlwaysSafe),
			released: []Override{OverrideApprovalAlways},
		},
		"dangerous_override releases": {
			decision: decisiontest.Rule(postroom.Delete, postroom.SafeDangerousOverride),
			released: []Override{OverrideDangerous, OverrideApprovalAlways},
		},
		"dangerous_override does not release the rule's own request": {
			decision: asks(decisiontest.Rule(postroom.Delete, postroom.SafeDangerousOverride)),
			reasons:  []string{"rule explicitly requested approval"},
			released: []Override{OverrideDangerous, OverrideApprovalAlways},
		},
		"dangerous_override of no known rule": {
			decision: with(decisiontest.Rule(postroom.Delete, postroom.SafeDangerousOverride), func(d *postroom.Decision) {
				d.RuleID = ""
			}),
			reasons: []string{dangerous, listed},
		},
		"dangerous_override in a model's mouth": {
			decision: with(decisiontest.Rule(postroom.Delete, postroom.SafeDangerousOverride), func(d *postroom.Decision) {
				d.Source = postroom.SourceModel
			}),
			reasons: []string{dangerous, listed},
		},
		"dangerous_override of an unknown action": {
			decision: decisiontest.Rule("format_disk", postroom.SafeDangerousOverride), reasons: []string{dangerous},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := testGate(t, tc.policy).Judge(tc.decision, Evidence{SafeMode: tc.decision.SafeMode})
			require.Equal(t, len(tc.reasons) > 0, v.RequiresApproval)
			require.ElementsMatch(t, tc.reasons, v.Reasons)
			require.Len(t, v.Overrides, len(v.Reasons))
			require.Equal(t, tc.released, v.Released)
		})
	}
}

func TestVerdictIsTelemetry(t *testing.T) {
	v := testGate(t, Policy{}).Judge(decisiontest.Model(postroom.Forward, 1), Evidence{})
	out, err := json.Marshal(v)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"requires_approval": true,
		"safety_overrides": ["dangerous_action", "approval_always"],
		"override_details": ["action is classified as dangerous", "action type is in approval_always list"]
	}`, string(out))
}

// TestNoModelIsReleased: whatever the policy and whatever the model returns, nothing dangerous passes.
func TestNoModelIsReleased(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testGate(t, drawPolicy(t))
		d := decisiontest.Draw(t)
		d.Source = rapid.SampledFrom([]postroom.Source{postroom.SourceModel, postroom.SourceNone, "", "person"}).Draw(t,
			"source")
		v := g.Judge(d, Evidence{SafeMode: d.SafeMode})
		if decisiontest.Kinds().Danger(d.Action) == postroom.Dangerous {
			require.True(t, v.RequiresApproval)
		}
		require.Empty(t, v.Released)
	})
}

// TestSafeModesOnlyEverRelease: a safe mode turns askers into released ones, never the other way, and of a dangerous
// action only dangerous_override releases anything.
func TestSafeModesOnlyEverRelease(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := testGate(t, drawPolicy(t))
		d := decisiontest.Draw(t)
		d.Source, d.SafeMode = postroom.SourceDeterministic, postroom.SafeDefault
		strict := g.Judge(d, Evidence{SafeMode: d.SafeMode})
		require.Empty(t, strict.Released)

		d.SafeMode = postroom.SafeAlwaysSafe
		safe := g.Judge(d, Evidence{SafeMode: d.SafeMode})
		require.ElementsMatch(t, strict.Overrides, append(safe.Overrides, safe.Released...))
		if decisiontest.Kinds().Danger(d.Action) == postroom.Dangerous {
			require.Equal(t, strict, safe)
		}

		d.SafeMode = postroom.SafeDangerousOverride
		override := g.Judge(d, Evidence{SafeMode: d.SafeMode})
		require.ElementsMatch(t, strict.Overrides, append(override.Overrides, override.Released...))
		if d.RuleID != "" {
			require.Equal(t, d.NeedsApproval && d.Action != postroom.None, override.RequiresApproval)
		}
	})
}

func drawPolicy(t *rapid.T) Policy {
	return Policy{
		ConfidenceThreshold: rapid.Float64Range(0.01, 1).Draw(t, "threshold"),
		ApprovalAlways:      rapid.SliceOf(rapid.SampledFrom(decisiontest.Kinds().Types())).Draw(t, "always"),
	}
}
