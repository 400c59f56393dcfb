package rulesfile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A test whose result depends on what its mail means is neither passed nor failed, and says on which rule it depends.
func TestATestThatDependsOnMeaningIsOpen(t *testing.T) {
	f := parsed(t, `rules:
  - name: First
    condition: {type: subject_contains, value: first}
    action: archive
  - name: Work
    condition:
      op: and
      children:
        - {type: subject_contains, value: tea}
        - {op: not, children: [{op: or, children: [{type: topic, value: work}, {type: has_event}]}]}
    action: star
  - name: Tea
    condition: {type: subject_contains, value: tea}
    action: archive
tests:
  - {name: goes by, message: {subject: tea}, actions: [archive]}
  - {name: asks, message: {subject: tea}, actions: [star]}
  - {name: not tea, message: {subject: coffee}, actions: []}
  - {name: before, message: {subject: first tea}, actions: [archive]}
  - {name: fails, message: {subject: first tea}, actions: [star]}
`)
	results := f.Test(f.Tests, nil)
	for i, want := range []string{"OPEN", "OPEN", "ok  ", "ok  ", "FAIL"} {
		require.Equal(t, want, results[i].String()[:4], results[i].Test.Name)
		require.Equal(t, want == "OPEN", len(results[i].Undecided) > 0)
	}
	require.Equal(t, []string{"'Work' asks for topic, has_event"}, results[0].Undecided)
	require.NotContains(t, results[0].String(), "until then")
	require.Contains(t, results[1].String(), "until then:\n      expected star, got archive")
	require.Empty(t, rulesfile.Meanings(&rules.Condition{Type: rules.Category, Value: "social"}))
}
