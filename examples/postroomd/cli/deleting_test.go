package cli

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/auth"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

const (
	deletesRubbish = "rules:\n  - name: Rubbish\n    condition: {type: subject_regex, value: ^Tea}\n    action: delete\n"
	another        = "grace@example.org"
)

// newSignedIn is a mailbox at a Gmail that wants people to sign in, with a rule that deletes what is about tea.
// Nobody has yet.
func newSignedIn(t *testing.T) *teatime {
	t.Helper()
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	file := writeFile(t, "config.toml",
		fmt.Sprintf("[gmail]\nold_mail = \"sort\"\nclient_id = \"me\"\nendpoint = %q\nauth_server = %q\ntokens = \"file\"\n"+
			"passphrase = \"env:POSTROOM_PASSPHRASE\"\nunits_per_minute = 0\n[paths]\nrules = %q\n",
			server.URL(), server.URL(), writeFile(t, "rules.yaml", deletesRubbish)))
	return &teatime{t, server, []string{"--config", file, "--data", filepath.Join(t.TempDir(), "data")}}
}

func (m *teatime) deliver(subject string) {
	m.Helper()
	_, err := m.server.Deliver(m.Context(), []byte("From: ann@example.com\r\nSubject: "+subject+"\r\n\r\nx\r\n"))
	require.NoError(m, err)
}

// decided runs once, and returns the newest action.
func (m *teatime) decided(set ...string) webapi.Action {
	m.Helper()
	m.deliver("Tea?")
	runOnce(m.T, append(append([]string{}, m.where...), set...)...)
	actions := m.actions()
	require.NotEmpty(m, actions)
	return actions[0]
}

// Without the permission a delete is refused when it is decided, and nobody is asked; with it a person is, and it is
// carried out.
func TestDeletingNeedsToBeGranted(t *testing.T) {
	m := newSignedIn(t)
	allowed := []string{"--set", "gmail.allow_delete=true"}
	signInAs(t, sample.Owner, m.where...)
	a := m.decided()
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Equal(t,
		"cannot be carried out: gmail.allow_delete is false, so nothing is deleted for ever: set it to true and sign in again with "+
			"'postroomd auth login "+sample.Owner+"', or use the action trash", a.Error)

	a = m.decided(allowed...)
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Equal(t, "cannot be carried out: "+sample.Owner+" has not granted permanent deletion: sign in again with "+
		"'postroomd auth login "+sample.Owner+"' and leave all boxes ticked, or use the action trash", a.Error)

	with := append(append([]string{}, m.where...), allowed...)
	said := signInWith(t, sample.Owner, []string{auth.ScopeModify}, with...)
	require.Contains(t, said,
		"warning: https://mail.google.com/ was not granted: messages cannot be deleted permanently; sign in again and tick its box\n")
	require.Equal(t, postroom.ActionFailed, m.decided(allowed...).State, "its box was not ticked")

	require.NotContains(t, signInWith(t, sample.Owner, []string{auth.ScopeModify, auth.ScopeFull}, with...), "warning")
	a = m.decided(allowed...)
	require.Equal(t, postroom.ActionPendingApproval, a.State, a.Error)
	require.Zero(t, m.server.Counts()[gmailtest.MessagesDelete])

	// No door lets it pass any more when the permission is gone.
	r := m.postroomd("approvals", "approve", a.ID)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "it cannot be carried out: gmail.allow_delete is false")
	require.Contains(t, r.stderr, "'postroomd approvals reject' ends the action")
	r = m.postroomd("approvals", "approve", "--kind", "delete", "--yes")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "gmail.allow_delete is false")

	m.where = with
	r = m.postroomd("approvals", "approve", a.ID)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, m.where...)
	require.Equal(t, postroom.ActionCompleted, m.actions()[0].State, m.actions()[0].Error)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
}

// Each mailbox has what its own owner has granted.
func TestMailboxesDifferInWhatTheyGranted(t *testing.T) {
	m := newSignedIn(t)
	other, err := m.server.Account(t.Context(), another)
	require.NoError(t, err)
	m.where = append(m.where, "--set", "gmail.allow_delete=true")
	signInAs(t, sample.Owner, m.where...)
	signInWith(t, another, []string{auth.ScopeModify, auth.ScopeFull}, m.where...)
	m.deliver("Tea?")
	_, err = other.Deliver(t.Context(), []byte("From: ann@example.com\r\nSubject: Tea too?\r\n\r\nx\r\n"))
	require.NoError(t, err)
	r := start(t, m.where...)
	r.eventually("both are decided about", func() bool { return len(m.actions()) == 2 })
	r.stop()
	states := map[string]postroom.ActionState{}
	for _, a := range m.actions() {
		states[a.Subject] = a.State
	}
	require.Equal(t, map[string]postroom.ActionState{"Tea?": postroom.ActionFailed,
		"Tea too?": postroom.ActionPendingApproval}, states)
}

// A request from before the permission was looked at is not approved by a program either.
func TestTheAPIDoesNotApproveWhatIsRefused(t *testing.T) {
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	m, c := newAPI(t, deleteTea, "--set", "gmail.token=", "--set", "gmail.client_id=me", "--set", "gmail.tokens=file",
		"--set", "gmail.passphrase=env:POSTROOM_PASSPHRASE")
	var waiting []webapi.Request
	c.get("", &waiting)
	require.NotEmpty(t, waiting)
	status, answer := c.call("POST", "/"+waiting[0].ID+"/approve", answerTo(waiting[0], ""))
	require.Equal(t, http.StatusUnprocessableEntity, status, answer)
	require.Contains(t, answer, "gmail.allow_delete is false")
	require.Equal(t, postroom.ActionPendingApproval, m.actions()[0].State)
}

// Where the configuration alone tells that nobody deletes for ever, whoever looks at the rules is told, with the line.
func TestRulesThatDeleteAreWarnedOf(t *testing.T) {
	m := newSignedIn(t)
	rules := writeFile(t, "other.yaml", deletesRubbish)
	const says = ":4:13: action delete is refused here, and each decision of the rule fails; gmail.allow_delete is false; " +
		"set it to true and sign in again with 'postroomd auth login', or write trash\n"
	config := m.where[:2]
	run := func(args ...string) result { return postroomd(t, append(args, config...)...) }
	r := run("config", "check")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "rules.yaml"+says)
	r = run("rules", "check", rules)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "other.yaml"+says)

	for _, set := range []string{"gmail.allow_delete=true", "gmail.client_id="} {
		r = run("config", "check", "--set", set)
		require.NotContains(t, r.stderr, "delete", set)
		r = run("rules", "check", rules, "--set", set)
		require.Equal(t, 0, r.status, r.stderr)
		require.Empty(t, r.stderr, set)
	}
	token := []string{"--set", "gmail.token=" + secret(t, "x"), "--set", "gmail.address=" + sample.Owner}
	require.Empty(t, run(append([]string{"rules", "check", rules}, token...)...).stderr, "what the token may is not known")

	r = postroomd(t, "rules", "check", rules, "--config", rules+".none")
	require.Equal(t, exitUsage, r.status)
	t.Setenv("POSTROOMD_CONFIG", writeFile(t, "broken.toml", "[gmail]\nclient_id = \"env:NOT_SET_HERE\"\n"))
	r = postroomd(t, "rules", "check", rules)
	require.Equal(t, 0, r.status, r.stderr)
	require.True(t, strings.HasPrefix(r.stderr,
		"warning: the configuration cannot be read, and the rules are checked without it"), r.stderr)
}

// Programs that make rules are told the same, and of times that have passed.
func TestTheAPIMakesNoRuleThatIsRefused(t *testing.T) {
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	c, _ := newCaller(t, "--set", "paths.rules=", "--set", "gmail.token=", "--set", "gmail.client_id=me", "--set",
		"gmail.tokens=file", "--set", "gmail.passphrase=env:POSTROOM_PASSPHRASE")
	rule := func(rest string) string {
		return `{"name": "Rubbish", "condition": {"type": "subject_contains", "value": "rubbish"}, ` + rest + `}`
	}
	require.Contains(t, c.call("POST", "rules", rule(`"action": "delete"`), 422), "gmail.allow_delete is false")
	require.Contains(t, c.call("POST", "rules", rule(`"action": "star", "further_actions": [{"action": "delete"}]`),
		422), "action delete is refused here")
	made := read[webapi.Rule](t, c.call("POST", "rules", rule(`"action": "trash"`), 200))
	require.Contains(t, c.call("PATCH", "rules/"+made.ID, `{"action": "delete"}`, 422), "gmail.allow_delete is false")
	require.Contains(t, c.call("PATCH", "rules/"+made.ID,
		`{"action": "snooze", "parameters": {"until": "2020-01-01T00:00:00Z"}}`, 422),
		"2020-01-01T00:00:00Z is not in the future")
	require.Contains(t, c.call("PATCH", "rules/"+made.ID, `{"action": "forward", "parameters": {"to": "bob"}}`, 422),
		"an address such as name@example.com")
	require.EqualValues(t, "trash", read[webapi.Rule](t, c.call("GET", "rules/"+made.ID, "", 200)).Action)
}

// A model chooses from what is carried out: it is not offered a delete that would be refused.
func TestModelsAreNotOfferedWhatIsRefused(t *testing.T) {
	s := &environment.Environment{Config: config.Default()}
	for client, offered := range map[string]bool{"": true, "me": false} {
		s.Config.Gmail.ClientID = client
		may, err := s.ModelKinds()
		require.NoError(t, err)
		require.Equal(t, offered, may.Has(postroom.Delete))
		require.True(t, may.Has(postroom.Forward))
	}
	s.Config.Gmail.AllowDelete = true
	may, err := s.ModelKinds()
	require.NoError(t, err)
	require.True(t, may.Has(postroom.Delete))
}

// A time that has passed since the rule was written stops nothing but the rule.
func TestARuleWhoseTimeHasPassed(t *testing.T) {
	m := newTeatime(t, "{action: snooze, parameters: {until: 2020-01-01T00:00:00Z}}", "", letterWithFile)
	r := postroomd(t, append([]string{"config", "check"}, append(m.where[:2:2], m.where[4:]...)...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr,
		"action snooze: 2020-01-01T00:00:00Z is not in the future; each decision of the rule fails, with this reason")
	require.Zero(t, runOnce(t, m.where...).Approvals)
	a := m.actions()[0]
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Equal(t,
		"action snooze: 2020-01-01T00:00:00Z is not in the future: rule 'Tea' says so; correct its parameters, or disable it", a.Error)
	require.Equal(t, "deterministic", string(a.Source))
}
