package ruledraft_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const marked = `rules:
  - name: Urgent
    condition: { type: header_present, header: X-Urgent }
    action: star
  - name: Tea
    condition:
      op: and
      children: [{ type: subject_contains, value: tea }, { op: not, children: [{ type: body, value: offer }] }]
    action: archive
  - name: Plain
    condition: { type: subject_contains, value: plain }
    action: archive
`

func letterOf(subject, body string) *postroom.Message {
	return &postroom.Message{From: postroom.Address{Email: "ada@example.org"}, Subject: subject, BodyPlain: body,
		ReceivedAt: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

func fileOf(t *testing.T) *rulesfile.File {
	t.Helper()
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(marked))
	require.NoError(t, err)
	return file
}

// A mark becomes a test that holds what the rule reads of the message, and passes.
func TestMarksBecomeTests(t *testing.T) {
	urgent := letterOf("plain and urgent", "secret")
	urgent.Headers = []postroom.Header{{Name: "X-Urgent", Value: "yes"}}
	for rule, marks := range map[string][]ruledraft.Mark{
		"Tea":   {{Message: letterOf("tea", "secret"), Right: true}, {Message: letterOf("teas", "an offer")}},
		"Plain": {{Message: letterOf("plain", "secret"), Right: true}, {Message: urgent}},
	} {
		file, err := ruledraft.AddTests(fileOf(t), rule, marks, nil)
		require.NoError(t, err)
		require.Len(t, file.Tests, 2)
		for i, result := range file.Test(file.Tests, nil) {
			require.True(t, result.Passed(), result.String())
			require.Equal(t, marks[i].Right, slices.Contains(result.Test.Rules, rule))
			require.Equal(t, !marks[i].Right, slices.Contains(result.Test.Without, rule))
		}
		require.Equal(t, rule == "Tea", strings.Contains(file.Source, "secret"), "a text that the rule reads not is left out")
		require.Equal(t, rule == "Plain", strings.Contains(file.Source, "X-Urgent:"), "a rule before it reads that")
		again, err := ruledraft.AddTests(file, rule, marks, nil)
		require.NoError(t, err)
		require.Equal(t, file.Source, again.Source, "the same mark is the same test")
	}
}

func TestMarksThatAreNotMet(t *testing.T) {
	urgent := letterOf("tea", "")
	urgent.Headers = []postroom.Header{{Name: "X-Urgent", Value: "yes"}}
	for said, mark := range map[string]ruledraft.Mark{
		"still has “tea”":             {Message: letterOf("tea", "")},
		"does not have “tea”":         {Message: letterOf("tea", "offer"), Right: true},
		`The rule "Urgent" decides`:   {Message: urgent, Right: true},
		"too long to be a test: take": {Message: letterOf("tea", strings.Repeat("x", 30<<10)), Right: true},
	} {
		_, err := ruledraft.AddTests(fileOf(t), "Tea", []ruledraft.Mark{mark}, nil)
		require.ErrorAs(t, err, new(usage.Error))
		require.ErrorContains(t, err, said)
	}
}
