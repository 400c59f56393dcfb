package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

// Rules name labels that nobody has listed: they are made for every kind of action that takes one.
func TestLabelsThatRulesNameAreMade(t *testing.T) {
	file := writeFile(t, "rules.yaml", `
labels: [Bills]
rules:
  - name: move
    condition: {type: subject_contains, value: invoice}
    actions: [{action: star}, {action: move, parameters: {label: Bill}}]
  - name: apply
    condition: {type: sender_domain, value: harbourweekly.example}
    action: apply_label
    parameters: {label: Harbour/Weekly}
`)
	dir := filepath.Join(t.TempDir(), "data")
	r := postroomd(t, "rules", "check", file)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, `label "Bill" is not listed under labels, and is created where a mailbox does not have it; did you mean Bills? If not, list it there`)
	require.Contains(t, r.stderr, `label "Harbour/Weekly" is not listed under labels, and is created where a mailbox does not have it; list it there if it is no slip`)

	demoJSON(t, "--data", dir, "--rules", file)
	var actions []actionView
	asJSON(t, &actions, []string{"--data", dir}, "actions", "--limit", "100", "--type", "move,apply_label")
	require.NotEmpty(t, actions)
	for _, a := range actions {
		require.Equal(t, postroom.ActionCompleted, a.State, "%s %s: %s", a.Action, a.Label, a.Error)
	}
}

func TestLabelsThatARuleOfTheAPINamesAreMade(t *testing.T) {
	c, h := newCaller(t, "--set", "paths.rules=")
	has := func(name string) bool {
		require.NoError(t, h.runJobs(t.Context()))
		accounts, err := h.mail.Accounts(t.Context())
		require.NoError(t, err)
		labels, err := h.mail.Labels(t.Context(), accounts[0].ID)
		require.NoError(t, err)
		return slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.Name == name })
	}
	const rule = `{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "move", "parameters": {"label": "Tea"}}`
	made := read[storedRuleView](t, c.call("POST", "rules", rule, http.StatusOK))
	require.True(t, has("Tea"))
	c.call("PATCH", "rules/"+made.ID, `{"parameters": {"label": "Kettle"}}`, http.StatusOK)
	require.True(t, has("Kettle"))
}
