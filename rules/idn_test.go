package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An international domain is the same however a message and a rule write it.
func TestInternationalDomainsHaveOneForm(t *testing.T) {
	scoped := func(scope rules.Scope, ref string) rules.Rule {
		r := rules.NewRule("r", rulestest.Predicate(rules.SubjectContains, "hello"), postroom.Star, nil)
		r.Scope, r.ScopeRef = scope, ref
		return r
	}
	of := func(c rules.Condition) rules.Rule { return rules.NewRule("r", c, postroom.Star, nil) }
	address := func(part string, match rules.Match, value string) rules.Rule {
		return of(rules.Condition{Type: rules.Address, Fields: []string{"from"}, Part: part, Match: match, Value: value})
	}
	for _, r := range []rules.Rule{
		of(rulestest.Predicate(rules.SenderDomain, "bücher.example")),
		of(rulestest.Predicate(rules.SenderDomain, "BÜCHER.example")),
		of(rulestest.Predicate(rules.SenderDomain, "XN--bcher-kva.example")),
		of(rulestest.Predicate(rules.SenderEmail, "x@bücher.example")),
		of(rulestest.Predicate(rules.SenderEmail, "*@Bücher.example")),
		address("domain", rules.Is, "bücher.example"), address("site", rules.Is, "Bücher.example"),
		address("domain", rules.Wildcard, "bücher.*"),
		address("", rules.Wildcard, "*@bücher.example"), address("", rules.Contains, "bücher.example"),
		address("domain", rules.Contains, "bücher"),
		scoped(rules.ScopeDomain, "bücher.example"), scoped(rules.ScopeSender, "X@BÜCHER.example"),
		scoped(rules.ScopeDomain, "xn--bcher-kva.example"),
	} {
		require.NoError(t, r.Validate(nil))
		set := rules.NewSet([]rules.Rule{r}, nil)
		for _, from := range []string{"x@xn--bcher-kva.example", "x@bücher.example", "x@BÜCHER.example",
			"X@Xn--Bcher-Kva.example", "x@bu\u0308cher.example"} {
			_, found := set.First(mailFrom(from), now)
			require.True(t, found, "%s %s %s: %s", r.Condition, r.Scope, r.ScopeRef, from)
		}
		for _, from := range []string{"x@bucher.example", "x@xn--bcher-kvb.example", "x@example"} {
			_, found := set.First(mailFrom(from), now)
			require.False(t, found, "%s %s %s: %s", r.Condition, r.Scope, r.ScopeRef, from)
		}
	}
	_, found := rules.NewSet([]rules.Rule{of(rulestest.Predicate(rules.SenderDomain, "bank.example"))}, nil).First(
		mailFrom("x@ban\u212a.example"), now)
	require.False(t, found, "a Kelvin sign is no k")
}

// Files keep what the person wrote.
func TestInternationalDomainsStayAsTheyAreWritten(t *testing.T) {
	const text = "rules:\n  - name: books\n    scope: domain\n    scope_ref: bücher.example\n    condition: {type: sender_domain, value: Bücher.example}\n    action: star\n"
	require.Equal(t, text, rulestest.Formatted(t, text))
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, "Bücher.example", file.Rules[0].Condition.Value)
	require.Equal(t, "bücher.example", file.Rules[0].ScopeRef)
}
