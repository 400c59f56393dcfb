package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// rulesPath is the rules file of the flags.
func rulesPath(where []string) string { return strings.TrimPrefix(where[len(where)-1], "paths.rules=") }

func accountNamed(t *testing.T, h *app.App, email string) string {
	t.Helper()
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	i := slices.IndexFunc(accounts, func(a mailstore.Account) bool { return a.Email == email })
	require.GreaterOrEqual(t, i, 0)
	return accounts[i].ID
}

func rulesStatusOf(t *testing.T, where ...string) view.RulesStatus {
	t.Helper()
	files := statusOf(t, where...).RuleFiles
	require.Len(t, files, 1)
	return files[0]
}

// An edited rules file counts while postroomd runs, with the labels that it needs; of a faulty one the rules that were
// read before stay in force, and that is said where people look.
func TestTheDaemonTakesAnEditedRulesFile(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "")
	path := rulesPath(m.where)
	r := start(t, m.where...)
	r.ready()
	first := rulesStatusOf(t, m.where...)
	require.Equal(t, 1, first.Rules)
	require.False(t, first.Pending)
	write := func(text string) {
		require.NoError(t, os.WriteFile(path+"~", []byte(text), 0o600))
		require.NoError(t, os.Rename(path+"~", path)) // as editors do
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before := string(text)

	write(before +
		"  - {name: Coffee, condition: {type: subject_regex, value: ^Coffee}, action: apply_label, parameters: {label: Beans}}\n")
	r.eventually("the rules are in force", func() bool { return rulesStatusOf(t, m.where...).Version > first.Version })
	r.eventually("it is logged", func() bool { return strings.Contains(r.log(), `\"Coffee\" added`) })
	require.Contains(t, m.postroomd("status").stdout, "1 added, 0 changed, 0 removed; 'postroomd rules diff ")
	h := m.open()
	labels, err := h.Mail.Labels(t.Context(), accountNamed(t, h, sample.Owner))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(labels, func(l postroom.Label) bool { return l.Name == "Beans" }))

	write("rules: [{name: Odd, condition: {type: no_such}, action: archive}]\n")
	r.eventually("the fault is told", func() bool { _, body := r.get("readyz"); return strings.Contains(body, "no_such") })
	status, body := r.get("readyz")
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, m.postroomd("status").stdout, "the rules that were read before stay in force")
	require.Equal(t, 2, rulesStatusOf(t, m.where...).Rules)
	require.Contains(t, r.log(), "the rules file cannot be used")

	write(before)
	r.eventually("the first rules are back", func() bool { return rulesStatusOf(t, m.where...).Rules == 1 })
	r.eventually("no fault is left", func() bool { _, body := r.get("readyz"); return !strings.Contains(body, "no_such") })
	r.stop()
}

// A mailbox that is paused while the file changes takes its rules when it is resumed, and until then nobody says that
// it has.
func TestAPausedMailboxTakesAnEditedRulesFileLater(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "")
	r := start(t, m.where...)
	r.ready()
	require.Equal(t, 0, m.postroomd("accounts", "pause", sample.Owner).status)
	text, err := os.ReadFile(rulesPath(m.where))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(rulesPath(m.where), append(text,
		"  - {name: Coffee, condition: {type: starred}, action: archive}\n"...), 0o600))
	r.eventually("it is logged", func() bool {
		return strings.Contains(r.log(), "not in mailboxes that are not active, which take them when they are: "+sample.Owner)
	})
	require.Equal(t, 1, rulesStatusOf(t, m.where...).Rules)
	require.Equal(t, 0, m.postroomd("accounts", "resume", sample.Owner).status)
	r.eventually("the rules are in force", func() bool { return rulesStatusOf(t, m.where...).Rules == 2 })
	r.stop()
}

// A mailbox that has a rules file of its own reads no other one, and no other mailbox reads it.
func TestARulesFileForOneMailbox(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "")
	for _, set := range []string{"client_id=me", "auth_server=" + m.server.URL(), "tokens=file",
		"passphrase=" + inEnv(t, "correct horse")} {
		m.where = append(m.where, "--set", "gmail."+set)
	}
	_, err := m.server.Account(t.Context(), neighbour)
	require.NoError(t, err)
	own := filepath.Join(t.TempDir(), "own.yaml")
	const mine = "rules:\n  - {name: Mine, condition: {type: starred}, action: archive}\n"
	require.NoError(t, os.WriteFile(own, []byte(mine), 0o600))
	m.where = append(m.where, "--set", "paths.mailbox_rules="+neighbour+"="+own)
	signInAs(t, neighbour, m.where...)
	runOnce(t, m.where...)
	h := m.open()
	require.Equal(t, []string{"Tea"}, namesOf(t, h, accountNamed(t, h, sample.Owner)))
	require.Equal(t, []string{"Mine"}, namesOf(t, h, accountNamed(t, h, neighbour)))

	files := statusOf(t, m.where...).RuleFiles
	require.Len(t, files, 2)
	require.Equal(t, []string{sample.Owner}, files[0].Mailboxes)
	require.Equal(t, []string{neighbour}, files[1].Mailboxes)
	where := append(slices.Clone(m.where[:2]), m.where[4:]...) // without the folder of the data
	checked := postroomd(t, append([]string{"rules", "check", own}, where...)...)
	require.Contains(t, checked.stdout, "1 rule, no faults; for "+neighbour+" only", checked.stderr)
	checked = postroomd(t, append([]string{"config", "check"}, where...)...)
	require.Contains(t, checked.stdout, "no faults", checked.stderr)

	require.NoError(t, os.WriteFile(own, []byte("rules: ["), 0o600))
	r := postroomd(t, append([]string{"config", "check"}, where...)...)
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr, own)
}

// Two mailboxes may each have a rule of one name; each counts its own decisions.
func TestHitsAreThoseOfTheMailboxsOwnRule(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	for _, set := range []string{"client_id=me", "auth_server=" + m.server.URL(), "tokens=file",
		"passphrase=" + inEnv(t, "correct horse")} {
		m.where = append(m.where, "--set", "gmail."+set)
	}
	_, err := m.server.Account(t.Context(), neighbour)
	require.NoError(t, err)
	own := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(own,
		[]byte("rules:\n  - {name: Tea, condition: {type: starred}, action: archive}\n"), 0o600))
	m.where = append(m.where, "--set", "paths.mailbox_rules="+neighbour+"="+own)
	signInAs(t, neighbour, m.where...)
	runOnce(t, m.where...)
	h := m.open()
	hits := map[string]int{}
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	list, err := view.NewRules(t.Context(), h, "", accounts, time.Now())
	require.NoError(t, err)
	for _, r := range list {
		require.Equal(t, "Tea", r.Name)
		hits[r.Mailbox] = r.Hits
	}
	require.Equal(t, map[string]int{sample.Owner: 1, neighbour: 0}, hits)
}
