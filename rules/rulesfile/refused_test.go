package rulesfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A rule that is refused where it is used is no fault of the file: it is warned of, at its action.
func TestRefusedActionsAreWarnedOf(t *testing.T) {
	const text = `rules:
  - name: Rubbish
    condition: {type: starred}
    action: delete
  - name: Both
    condition: {type: unread}
    actions: [{action: star}, {action: delete}]
  - name: Old
    condition: {type: has_attachment}
    action: trash
`
	refused := rulesfile.WithRefused(map[postroom.ActionType]string{postroom.Delete: "write trash"})
	file, err := rulesfile.Parse("r.yaml", strings.NewReader(text), refused)
	require.NoError(t, err)
	require.Len(t, file.Rules, 3)
	require.Len(t, file.Warnings, 2)
	for i, place := range []string{"r.yaml:4:13: ", "r.yaml:7:31: "} {
		require.True(t, strings.HasPrefix(file.Warnings[i].String(),
			place+"action delete is refused here, and each decision of the rule fails; write trash\n"),
			file.Warnings[i].String())
	}
	file, err = rulesfile.Parse("r.yaml", strings.NewReader(text))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
}

// A rule that asks for what is never found out is no fault of the file: it is warned of, at the condition.
func TestUnknownMeaningsAreWarnedOf(t *testing.T) {
	const text = `rules:
  - name: Work
    condition:
      op: and
      children:
        - {type: unread}
        - op: not
          children: [{type: topic, value: work}]
    action: star
  - name: High
    condition: {type: priority, value: high}
    action: star
`
	unknown := rulesfile.WithUnknown(map[rules.Kind]string{rules.Topic: "switch it on"})
	file, err := rulesfile.Parse("r.yaml", strings.NewReader(text), unknown)
	require.NoError(t, err)
	require.Len(t, file.Warnings, 1)
	require.True(t, strings.HasPrefix(file.Warnings[0].String(),
		"r.yaml:8:29: topic is never known here, and the rule matches nothing; switch it on\n"), file.Warnings[0].String())
}
