package rulesfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const withSnippets = `snippets:
  thanks: |-
    Dear {{first_name|all}},

    it has arrived.
  short: Thanks.
rules:
  - name: Orders
    condition: {type: starred}
    action: auto_reply
    parameters: {snippet: thanks}
  - name: Both
    condition: {type: unread}
    actions:
      - {action: star}
      - {action: auto_reply, parameters: {snippet: short}}
`

func parseAnswers(t *testing.T, text string) (*rulesfile.File, error) {
	t.Helper()
	kind, _ := postroom.StandardKind(postroom.AutoReply)
	kind.Job = "outbound.send"
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{kind}})
	require.NoError(t, err)
	return rulesfile.Parse("r.yaml", strings.NewReader(text), rulesfile.WithKinds(kinds))
}

func TestSnippetsAreTextsOfRules(t *testing.T) {
	file, err := parseAnswers(t, withSnippets)
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	const thanks = "Dear {{first_name|all}},\n\nit has arrived."
	require.Equal(t, map[string]string{"thanks": thanks, "short": "Thanks."}, file.Snippets)
	require.Equal(t, postroom.Parameters{"body": thanks}, file.Rules[0].Parameters)
	require.Equal(t, postroom.Parameters{"body": "Thanks."}, file.Rules[1].Also[0].Parameters)

	again, err := parseAnswers(t, string(rulesfile.Marshal(file)))
	require.NoError(t, err)
	require.Equal(t, file.Snippets, again.Snippets)
	require.Equal(t, file.Rules[0].Parameters, again.Rules[0].Parameters)
	formatted, err := rulesfile.Format("r.yaml", []byte(withSnippets))
	require.NoError(t, err)
	again, err = parseAnswers(t, string(formatted))
	require.NoError(t, err, string(formatted))
	require.Equal(t, file.Snippets, again.Snippets)
	require.Contains(t, string(formatted), "{snippet: thanks}")
}

func TestSnippetsAreChecked(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"unknown":   {"{snippet: thanks}", "{snippet: thank}", `r.yaml:11:17: there is no snippet "thank"; did you mean thanks?`},
		"none":      {"{snippet: short}", "{snippet: x}", `there is no snippet "x"; the snippets of the file are short, thanks`},
		"both":      {"{snippet: short}", "{snippet: short, body: x}", "the action has both a body and a snippet; write one of the two"},
		"empty":     {"short: Thanks.", "short: ' '", `r.yaml:6:10: snippet "short" is empty; write the text below it`},
		"variable":  {"short: Thanks.", "short: 'Dear {{nam}}'", `r.yaml:6:10: snippet "short": {{nam}} is no variable; the variables are {{sender_name}}`},
		"until":     {"short: Thanks.", "short: 'Back after {{until}}'", `snippet "short" has {{until}}, which only the answer of an absence knows; name another`},
		"elsewhere": {"{action: star}", "{action: auto_reply, parameters: {body: '{{nam}}'}}", "{{nam}} is no variable; the variables are {{sender_name}}"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(withSnippets, tc.from, tc.to, 1)
			require.NotEqual(t, withSnippets, text)
			_, err := parseAnswers(t, text)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// A text for an absence may wait among the snippets.
func TestASnippetOfAnAbsence(t *testing.T) {
	file, err := parseAnswers(t, strings.Replace(withSnippets, "snippets:\n",
		"snippets:\n  away: 'Back after {{until}}.'\n", 1))
	require.NoError(t, err)
	require.Equal(t, "Back after {{until}}.", file.Snippets["away"])
}
