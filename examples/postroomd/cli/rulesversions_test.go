package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func TestRulesGoBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	first := writeFile(t, "first.yaml",
		"# mine\nrules:\n- {name: Lists, condition: {type: header_present, header: List-Unsubscribe}, action: archive}\n")
	second := writeFile(t, "second.yaml",
		"rules:\n- {name: Lists, condition: {type: header_present, header: List-Unsubscribe}, action: mark_read}\n")
	demoJSON(t, "--data", dir, "--rules", first)
	demoJSON(t, "--data", dir, "--rules", second)

	var list []view.RulesVersion
	r := postroomd(t, "rules", "history", "--data", dir, "--json")
	require.Equal(t, 0, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list), r.stdout)
	require.Len(t, list, 2)
	require.EqualValues(t, "file", list[0].Origin)
	require.Equal(t, second, list[0].Detail)
	require.Equal(t, app.CurrentUser(), list[0].By)
	require.Contains(t, list[0].For, "@")

	r = postroomd(t, "rules", "diff", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "-     action: archive\n+     action: mark_read\n")
	backwards := postroomd(t, "rules", "diff", "2", "1", "--data", dir)
	require.Contains(t, backwards.stdout, "-     action: mark_read\n+     action: archive\n")
	same := postroomd(t, "rules", "diff", "2", "--data", dir)
	require.Contains(t, same.stdout, "the rules are equal\n")

	r = postroomd(t, "rules", "restore", "1", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, "the rules are as they were at version 1; that is version 3\n", r.stdout)
	r = postroomd(t, "rules", "show", "3", "--data", dir)
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	require.Equal(t, string(text), r.stdout)
	r = postroomd(t, "rules", "history", "--data", dir)
	require.Contains(t, r.stdout, "restore version 1")

	for _, args := range [][]string{{"show", "9"}, {"restore", "0"}, {"restore", "x"}, {"diff", "1", "y"},
		{"history", "--limit", "0"}, {"history", "--mailbox", "no@where.example"}} {
		r = postroomd(t, append(append([]string{"rules"}, args...), "--data", dir)...)
		require.Equal(t, exitUsage, r.status, args)
	}
	none := postroomd(t, "rules", "diff", "--data", filepath.Join(dir, "none"))
	require.Equal(t, exitUsage, none.status)
}

// An old decision is explained by the rule as it was then.
func TestExplainShowsTheRuleOfThen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir, "--rules",
		writeFile(t, "a.yaml", "rules:\n- {name: All, condition: {type: larger_than, value: 1B}, action: archive}\n"))
	var page struct {
		Messages []view.Mail `json:"messages"`
	}
	r := postroomd(t, "mail", "search", "larger:1 -in:sent -in:draft", "--data", dir, "--json", "--limit", "1")
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &page), r.stdout+r.stderr)
	mail := page.Messages
	require.NotEmpty(t, mail)
	before := postroomd(t, "explain", mail[0].ID, "--data", dir)
	require.NotContains(t, before.stdout, "as it was then")
	demoJSON(t, "--data", dir, "--rules",
		writeFile(t, "b.yaml", "rules:\n- {name: All, condition: {type: larger_than, value: 2B}, action: archive}\n"))
	r = postroomd(t, "explain", mail[0].ID, "--data", dir)
	require.Contains(t, r.stdout, "The rule as it was then, since changed")
	require.Contains(t, r.stdout, "  condition     larger_than \"1B\"\n  does          archive\n")
	demoJSON(t, "--data", dir, "--rules", writeFile(t, "c.yaml", "rules: []\n"))
	r = postroomd(t, "explain", mail[0].ID, "--data", dir)
	require.Contains(t, r.stdout, "The rule as it was then, since removed")
}

// What the next start reads is written as well, and nothing is lost by it.
func TestGoingBackWritesTheRulesFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	old := "# old\nrules:\n- {name: Lists, condition: {type: starred}, action: archive}\n"
	demoJSON(t, "--data", dir, "--rules", writeFile(t, "a.yaml", old))
	demoJSON(t, "--data", dir, "--rules", writeFile(t, "b.yaml", "rules: []\n"))
	require.NoError(t, os.WriteFile(environment.Folder(dir).RunFile(), nil, 0o600))
	path := writeFile(t, "rules.yaml", "# edited since\nrules: []\n")
	args := []string{"rules", "restore", "1", "--data", dir, "--set", "paths.rules=" + path}
	r := postroomd(t, args...)
	require.Equal(t, exitUsage, r.status, r.stdout)
	require.Contains(t, r.stderr, "holds what no version does")
	require.Equal(t, 2, strings.Count(postroomd(t, "rules", "history", "--data", dir).stdout, "file "),
		"nothing has happened")

	r = postroomd(t, append(args, "--overwrite")...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, path+" is written, too\n")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, old, string(text))
	require.NoError(t, os.Remove(path))
	r = postroomd(t, args...)
	require.Equal(t, 0, r.status, "what is missing is made: "+r.stderr)
	require.FileExists(t, path)
}
