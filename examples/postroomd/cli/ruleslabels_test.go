package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
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
	require.Contains(t, r.stderr,
		`label "Bill" is not listed under labels, and is created where a mailbox does not have it; did you mean Bills? If not, list it there`)
	require.Contains(t, r.stderr,
		`label "Harbour/Weekly" is not listed under labels, and is created where a mailbox does not have it; list it there if it is no slip`)

	demoJSON(t, "--data", dir, "--rules", file)
	var actions []webapi.Action
	asJSON(t, &actions, []string{"--data", dir}, "actions", "--limit", "100", "--type", "move,apply_label")
	require.NotEmpty(t, actions)
	for _, a := range actions {
		require.Equal(t, postroom.ActionCompleted, a.State, "%s %s: %s", a.Action, a.Label, a.Error)
	}
}

func TestLabelsThatARuleOfTheAPINamesAreMade(t *testing.T) {
	c, h := newCaller(t, "--set", "paths.rules=")
	has := func(name string) bool {
		require.NoError(t, h.RunJobs(t.Context()))
		accounts, err := h.Mail.Accounts(t.Context())
		require.NoError(t, err)
		labels, err := h.Mail.Labels(t.Context(), accounts[0].ID)
		require.NoError(t, err)
		return slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.Name == name })
	}
	const rule = `{"name": "Tea", "condition": {"type": "subject_contains", "value": "tea"}, "action": "move", "parameters": {"label": "Tea"}}`
	made := read[webapi.Rule](t, c.call("POST", "rules", rule, http.StatusOK))
	require.True(t, has("Tea"))
	c.call("PATCH", "rules/"+made.ID, `{"parameters": {"label": "Kettle"}}`, http.StatusOK)
	require.True(t, has("Kettle"))
}

// Who deletes a label by hand is told which rules do nothing any more, once and wherever they look; a rule that is
// changed decides again.
func TestADeletedLabelIsSaidToDisableRules(t *testing.T) {
	m := newTeatime(t, "{action: apply_label, parameters: {label: Leaves}}", "[schedules]\nlabels_sync = \"1s\"\n",
		letterNamed(1))
	r := start(t, m.where...)
	r.ready()
	r.eventually("the label is there", func() bool { return m.states()[postroom.ActionCompleted] == 1 })
	require.NotContains(t, m.postroomd("status").stdout, "rule disabled")

	service, err := m.server.Service(t.Context())
	require.NoError(t, err)
	labels, err := service.Users.Labels.List("me").Do()
	require.NoError(t, err)
	i := slices.IndexFunc(labels.Labels, func(l *api.Label) bool { return l.Name == "Leaves" })
	require.NoError(t, service.Users.Labels.Delete("me", labels.Labels[i].Id).Do())
	disabled := []view.DisabledRule{{Rule: "Tea", Mailbox: sample.Owner, Reason: "Label 'Leaves' was deleted from Gmail"}}
	r.eventually("status says so", func() bool {
		said := statusOf(t, m.where...).Disabled
		if len(said) > 0 {
			disabled[0].ID = said[0].ID
		}
		return slices.Equal(disabled, said)
	})
	require.Regexp(t, `(?m)^rule disabled +"Tea" of `+sample.Owner+
		`: Label 'Leaves' was deleted from Gmail; it decides nothing until it is changed$`, m.postroomd("status").stdout)
	require.Equal(t, "Leaves", m.actions()[0].Label, "what was done is told by the name that the label had")
	r.stop()
	require.Equal(t, 1, strings.Count(r.log(), "rules are disabled, since a label"), r.log())
	require.Regexp(t, `level=WARN.*rules are disabled, since a label .*label=Leaves rules=\[Tea\]`, r.log())

	require.Equal(t, disabled, runOnce(t, m.where...).Disabled)
	path := m.where[len(m.where)-1][len("paths.rules="):]
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "label: Leaves", "label: Cups", 1)), 0o600))
	require.Empty(t, runOnce(t, m.where...).Disabled)
}
