package rules_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

func TestSetSetsBrokenRulesAside(t *testing.T) {
	bad := rules.NewRule("bad", rulestest.Predicate(rules.SubjectRegex, "("), postroom.Star, nil)
	good := rules.NewRule("good", rulestest.Predicate(rules.SubjectContains, "räumung"), postroom.Archive, nil)
	off := rules.NewRule("off", rules.Condition{}, postroom.Star, nil)
	off.Enabled = false

	set := rules.NewSet([]rules.Rule{bad, good, off}, nil)
	require.Equal(t, 1, set.Len())
	require.Len(t, set.Broken(), 1, "a disabled rule is nobody's trouble")
	require.Equal(t, "bad", set.Broken()[0].Rule.Name)
	require.ErrorIs(t, set.Broken()[0].Err, rules.ErrBadRegex)

	found, ok := set.First(letter(), now)
	require.True(t, ok)
	require.Equal(t, "good", found.Name)
}

func TestScopeDoesNotOutrankPriority(t *testing.T) {
	broad := rules.NewRule("broad", rulestest.Predicate(rules.SubjectContains, "räumung"), postroom.Archive, nil)
	broad.Priority = 1
	narrow := rules.NewRule("narrow", rulestest.Predicate(rules.SubjectContains, "räumung"), postroom.Star, nil)
	narrow.Scope, narrow.ScopeRef = rules.ScopeSender, "amy.lee@shop.example"

	set := rules.NewSet([]rules.Rule{narrow, broad}, nil)
	var found []string
	for r := range set.All(letter(), now) {
		found = append(found, r.Name)
	}
	require.Equal(t, []string{"broad", "narrow"}, found)
}

func BenchmarkDecide(b *testing.B) {
	kinds := []func(i int) rules.Condition{
		func(i int) rules.Condition { return rulestest.FromDomain(fmt.Sprintf("shop%d.example", i)) },
		func(i int) rules.Condition {
			return rulestest.Predicate(rules.SubjectContains, fmt.Sprintf("offer %d", i))
		},
		func(i int) rules.Condition {
			return rulestest.Predicate(rules.SubjectRegex, fmt.Sprintf(`(?i)\border %d\b`, i))
		},
		func(i int) rules.Condition { return rulestest.Header("List-Id", fmt.Sprintf("<list%d\\.", i)) },
		func(i int) rules.Condition {
			return rules.AllOf(rulestest.Predicate(rules.HasAttachment, ""), rulestest.Predicate(rules.LargerThan, "1MB"))
		},
	}
	list := make([]rules.Rule, 100)
	for i := range list {
		list[i] = rules.NewRule(fmt.Sprintf("rule %d", i), kinds[i%len(kinds)](i), postroom.Archive, nil)
	}
	set := rules.NewSet(list, nil)
	msg := letter()
	for b.Loop() {
		if _, ok := set.First(msg, now); ok {
			b.Fatal("no rule is meant to match")
		}
	}
}

func BenchmarkDecideAmongManySenders(b *testing.B) {
	list := make([]rules.Rule, 10_000)
	for i := range list {
		list[i] = rules.NewRule(fmt.Sprintf("rule %d", i), rulestest.Predicate(rules.HasAttachment, ""),
			postroom.Archive, nil)
		list[i].Scope, list[i].ScopeRef = rules.ScopeSender, fmt.Sprintf("p%d@shop.example", i)
	}
	set := rules.NewSet(list, nil)
	msg := letter()
	for b.Loop() {
		if _, ok := set.First(msg, now); ok {
			b.Fatal("no rule is meant to match")
		}
	}
}
