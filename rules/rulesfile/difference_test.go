package rulesfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func TestDifferencesOfRules(t *testing.T) {
	parse := func(text string) []rules.Rule {
		f, err := rulesfile.Parse("x.yaml", strings.NewReader(text))
		require.NoError(t, err)
		return f.Rules
	}
	before := parse(`rules:
- {name: gone, condition: {type: starred}, action: archive}
- {name: same, condition: {type: starred}, action: archive}
- {name: other, condition: {type: sender_domain, values: [a.example, b.example, c.example, d.example, e.example, f.example, g.example, h.example, i.example]}, action: archive, priority: 3}`)
	after := parse(`rules:
- {name: new, condition: {type: unread}, action: star}
- {name: same, condition: {type: starred}, action: archive}
- {name: other, condition: {type: sender_domain, values: [a.example, c.example, d.example, e.example, f.example, g.example, h.example, i.example, j.example]}, action: trash, priority: 3}`)
	after[1].DisabledReason = "why\nnot"
	var all strings.Builder
	for _, d := range rulesfile.Differences(before, after) {
		all.WriteString(d.Name + "\n" + d.String())
	}
	rulestest.Golden(t, "testdata/difference.golden", all.String())
	require.Empty(t, rulesfile.Differences(after, after))

	renamed := []rules.Rule{before[0]}
	renamed[0].ID = "1"
	was := []rules.Rule{before[1]}
	was[0].ID = "1"
	require.Len(t, rulesfile.Differences(was, renamed), 1, "an id that is the same is the same rule")

	lines := make([]string, 3000)
	for i := range lines {
		lines[i] = strings.Repeat("x", i%7) + ".example"
	}
	large := rulesfile.Difference{Before: strings.Join(lines, "\n"), After: "y\n" + strings.Join(lines, "\nz\n")}
	require.NotEmpty(t, large.String(), "which is shown as a whole")
}

func TestDifferencesOfTests(t *testing.T) {
	f := parsed(t, beforeRevision)
	was := f.Tests
	require.Empty(t, rulesfile.TestDifferences(was, was))
	changed := was[0]
	changed.Actions = []rules.RuleAction{{Type: "archive"}}
	added := changed
	added.Name = "tea"
	list := rulesfile.TestDifferences(was, []rulesfile.Test{changed, added})
	require.Len(t, list, 2)
	require.Equal(t, "changed", list[0].Kind())
	require.Contains(t, list[0].String(), "- ")
	require.Equal(t, "tea", list[1].Name)
	require.NotContains(t, "\n"+list[1].String(), "\n- ")
	require.Len(t, rulesfile.TestDifferences(was, nil), 1)
}
