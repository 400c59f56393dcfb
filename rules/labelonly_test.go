package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const beginning = `labels: [A, B]
rules:
  - name: new
    condition: {type: subject_contains, value: hello}
    actions: [{action: move, parameters: {label: A}}, {action: apply_label, parameters: {label: B}}, {action: star}]
    schedule: {label_only_until: 2026-12-04, zone: Europe/Berlin}
`

// A new rule gives its labels alone until the end of a day where its owner is, and says so; then it does all it says.
func TestARuleBeginsWithItsLabels(t *testing.T) {
	list := fileRules(t, beginning)
	set := rules.NewSet(list, nil)
	ends := time.Date(2026, 12, 4, 23, 0, 0, 0, time.UTC) // midnight in Berlin
	require.True(t, ends.Equal(list[0].LabelOnlyEnds()))
	before := set.DecideAll(mailFrom("amy@example.com"), ends.Add(-time.Second))
	require.Equal(t, []string{"apply_label A", "apply_label B"}, actionsOf(before))
	require.Contains(t, before[0].Rationale, "; until 2026-12-04 it only labels")
	after := set.DecideAll(mailFrom("amy@example.com"), ends)
	require.Equal(t, []string{"move A", "apply_label B", "star"}, actionsOf(after))
	require.NotContains(t, after[0].Rationale, "only labels")
	require.Equal(t, before[0].RuleVersion, after[0].RuleVersion, "it is the same rule")
	require.Len(t, list[0].Permits(), 5)

	always := fileRules(t, strings.ReplaceAll(beginning, "    schedule: {label_only_until: 2026-12-04, zone: Europe/Berlin}\n", ""))
	require.True(t, always[0].LabelOnlyEnds().IsZero())
	require.Equal(t, always[0].Actions(), always[0].Permits())
	require.NotEqual(t, always[0].Version(), list[0].Version())
}

// The file keeps it, and refuses what could not be.
func TestTheFileOfARuleThatBeginsWithItsLabels(t *testing.T) {
	list := fileRules(t, beginning)
	text := string(rulesfile.Marshal(&rulesfile.File{Rules: list}))
	require.Contains(t, text, "label_only_until: 2026-12-04")
	require.Equal(t, list[0].Schedule, fileRules(t, text)[0].Schedule)
	for text, said := range map[string]string{
		strings.Replace(beginning, "2026-12-04", "soon", 1): `"soon" is no date`,
		strings.NewReplacer("move, parameters: {label: A}", "archive", "apply_label, parameters: {label: B}",
			"mark_read").Replace(beginning): "no label that it could begin with",
	} {
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
		require.ErrorContains(t, err, said)
	}
}
