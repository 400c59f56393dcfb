package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

// Stored decisions name rules by their versions, so a version of a program finds those of another.
func TestTheVersionOfARuleIsTheSameForEver(t *testing.T) {
	condition := rules.AllOf(rulestest.FromDomain("shop.example"),
		rules.Condition{Type: rules.SubjectContains, Values: []string{"a", "b"}})
	r := rules.NewRule("Bills <1> é", condition, postroom.Move, postroom.Parameters{"label": "Bills"})
	require.Equal(t, "986b99647a9385b32c3578d41a775b34438262a2d91c8c20fdba7f4013b6bb37", r.Version())

	r.ID, r.AccountID, r.Description, r.Scope, r.ScopeRef = "x", "acc", "of the shop", rules.ScopeSender, "a@shop.example"
	r.Also = []rules.RuleAction{{Type: postroom.Star}}
	r.Continue, r.Authentication, r.SafeMode, r.Priority = true, rules.AuthenticationRequired,
		postroom.SafeDangerousOverride, 7
	r.Schedule = rules.Schedule{From: "2026-01-01", Times: []string{"22:00-06:00"}, Zone: "Europe/Berlin"}
	r.CreatedAt, r.Enabled = time.Now(), true
	require.Equal(t, "967451e014be02280808d760e23139c6310af11c4b690dbfdb98a69651c74347", r.Version())
}
