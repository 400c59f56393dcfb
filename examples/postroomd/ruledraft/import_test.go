package ruledraft_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// filters are n filters of one name, as the API of Gmail lists them.
func filters(n int) string {
	return `{"filter": [` + strings.TrimSuffix(strings.Repeat(
		`{"criteria": {"from": "news@shop.example"}, "action": {"addLabelIds": ["STARRED"]}},`, n), ",") + `]}`
}

// Many filters that are alike take no longer than others, and more than any account has are refused.
func TestManyFiltersAreImported(t *testing.T) {
	costtest.NeedsExactCosts(t)
	const many = 1500
	var translation *rulesfile.Translation
	var err error
	took := costtest.CPUTime(t, func() { translation, err = ruledraft.Translate(filters(many), "", nil) })
	require.NoError(t, err)
	require.Len(t, translation.File.Rules, many)
	require.Less(t, took, 2*time.Second)
	require.Equal(t, translation.File.Rules[0].Name+" (1500)", translation.File.Rules[many-1].Name)

	translation.File.Rules = translation.File.Rules[:500]
	var added ruledraft.Import
	took = costtest.CPUTime(t, func() { added, err = ruledraft.AddTranslation(translation.File, translation) })
	require.NoError(t, err)
	require.Len(t, added.Known, 500)
	require.Less(t, took, 2*time.Second)

	_, err = ruledraft.Translate(filters(5001), "", nil)
	require.ErrorAs(t, err, new(usage.Error))
	require.ErrorContains(t, err, "5001 filters")
}

// A rule that is added gets a number if its name is taken, also if a numbered one is.
func TestAddedRulesHaveNamesOfTheirOwn(t *testing.T) {
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(`rules:
  - {name: from news@shop.example, condition: {type: subject_contains, value: a}, action: star}
  - {name: from news@shop.example (2), condition: {type: subject_contains, value: b}, action: star}
`))
	require.NoError(t, err)
	translation, err := ruledraft.Translate(filters(2), "", nil)
	require.NoError(t, err)
	added, err := ruledraft.AddTranslation(file, translation)
	require.NoError(t, err)
	require.Equal(t, []string{file.Rules[0].Name + " (3)", file.Rules[0].Name + " (2) (2)"}, added.Taken)
}
