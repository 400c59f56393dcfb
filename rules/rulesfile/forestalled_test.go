package rulesfile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A rule that an earlier one always forestalls is named; a rule that only looks so is not.
func TestForestalledRulesAreNamed(t *testing.T) {
	const shop, news = "{type: sender_domain, value: shop.example}", "{type: sender_domain, value: news.example}"
	star := "{type: starred}"
	for name, c := range map[string]struct {
		first, second, rest string
		found               bool
	}{
		"equal":              {shop, shop, "", true},
		"one more condition": {shop, "{op: and, children: [" + shop + ", " + star + "]}", "", true},
		"more values":        {"{type: sender_domain, values: [a.example, shop.example]}", shop, "", true},
		"one of several":     {"{op: or, children: [" + news + ", " + shop + "]}", shop, "", true},
		"each alternative": {"{op: or, children: [" + news + ", " + shop + "]}",
			"{op: or, children: [" + shop + "]}", "", true},
		"no value":                {star, "{op: and, children: [" + shop + ", " + star + "]}", "", true},
		"other values":            {news, shop, "", false},
		"narrower":                {"{op: and, children: [" + shop + ", " + star + "]}", shop, "", false},
		"negated":                 {"{op: not, children: [" + shop + "]}", shop, "", false},
		"it is disabled":          {shop, shop, "enabled: false", false},
		"it proves nothing":       {shop, shop, "authentication: required", true},
		"fewer values":            {shop, "{type: sender_domain, values: [shop.example, a.example]}", "", false},
		"other parts of a letter": {"{type: subject_contains, value: x}", "{type: body_contains, value: x}", "", false},
	} {
		text := "rules:\n  - {name: First, condition: " + c.first + ", action: archive}\n  - name: Second\n    condition: " +
			c.second + "\n    action: star\n"
		if c.rest != "" {
			text += "    " + c.rest + "\n"
		}
		file, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
		require.NoError(t, err, name)
		if !c.found {
			require.Empty(t, file.Warnings, name)
			continue
		}
		require.Len(t, file.Warnings, 1, name)
		require.Contains(t, file.Warnings[0].String(),
			`r.yaml:3:11: rule "Second" never decides: rule "First" comes before it and matches all of its mail; `, name)
	}
}

// What decides only at times, for other senders, or lets later rules be tried forestalls nothing.
func TestRulesThatForestallNothing(t *testing.T) {
	for _, first := range []string{"stop: false", "schedule: {weekdays: [mon]}", "enabled: false",
		"authentication: required", "scope: domain, scope_ref: shop.example"} {
		text := "rules:\n  - {name: First, condition: {type: starred}, action: archive, " + first + "}\n" +
			"  - {name: Second, condition: {type: starred}, action: star}\n"
		file, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
		require.NoError(t, err, first)
		require.Empty(t, file.Warnings, first)
	}
}

// Thousands of rules with a condition in common are compared within a bound.
func TestManyRulesAreCompared(t *testing.T) {
	var b strings.Builder
	b.WriteString("rules:\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "  - {name: R%d, action: archive, condition: {op: and, children: [{type: starred}, "+
			"{type: sender_domain, value: d%d.example}]}}\n", i, i)
	}
	file, err := rulesfile.Parse("r.yaml", strings.NewReader(b.String()))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
}

// What a sender writes into a header field proves nothing, even if the sender is authenticated: the name beside the
// address is free.
func TestNoOverrideByAPatternOnFrom(t *testing.T) {
	rule := func(header, mode string) string {
		return "rules:\n  - name: Bank\n    condition: {op: and, children: [{type: header_match, header: " + header +
			", pattern: bank}]}\n    action: delete\n    safe_mode: " + mode + "\n"
	}
	for _, header := range []string{"From", "from", "Sender", "Reply-To"} {
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(rule(header, "dangerous_override")))
		require.ErrorContains(t, err, "everybody can write into "+header, header)
		require.ErrorContains(t, err, "write sender_domain or sender_email", header)
	}
	for _, text := range []string{rule("List-Id", "dangerous_override"), rule("From", "default")} {
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
		require.NoError(t, err)
	}
}
