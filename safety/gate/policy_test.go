package gate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestPolicyNamesTheBadField(t *testing.T) {
	for name, tc := range map[string]struct {
		policy Policy
		want   string
	}{
		"negative threshold": {Policy{ConfidenceThreshold: -0.1}, "Policy.ConfidenceThreshold is -0.1"},
		"threshold above 1":  {Policy{ConfidenceThreshold: 1.01}, "Policy.ConfidenceThreshold is 1.01"},
		"threshold NaN":      {Policy{ConfidenceThreshold: math.NaN()}, "Policy.ConfidenceThreshold is NaN"},
		"unknown action": {
			Policy{ApprovalAlways: []postroom.ActionType{postroom.Trash, "erase"}},
			`Policy.ApprovalAlways[1] is "erase"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.policy, nil)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPolicyDefaults(t *testing.T) {
	p, err := Policy{}.withDefaults(nil)
	require.NoError(t, err)
	require.InDelta(t, 0.7, p.ConfidenceThreshold, 0)
	require.Equal(t, []postroom.ActionType{postroom.Delete, postroom.Forward, postroom.AutoReply},
		p.ApprovalAlways)

	p, err = Policy{ApprovalAlways: []postroom.ActionType{}}.withDefaults(nil)
	require.NoError(t, err)
	require.Empty(t, p.ApprovalAlways, "an empty list is not the default list")
}

func TestPolicyIsCopied(t *testing.T) {
	list := []postroom.ActionType{postroom.Trash}
	g, err := New(Policy{ApprovalAlways: list}, nil)
	require.NoError(t, err)
	list[0] = postroom.Star
	require.True(t, g.Judge(postroom.Decision{Action: postroom.Trash, Confidence: 1}, Evidence{}).RequiresApproval)
}
