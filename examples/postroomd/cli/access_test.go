package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// machines are several on one PostgreSQL, each with a data folder of its own; the mailboxes are signed in to on the
// first.
type machines struct {
	*testing.T
	server  *gmailtest.Server
	where   [][]string // of each machine
	letters int
}

func newMachines(t *testing.T, more ...string) *machines {
	t.Helper()
	database := inEnv(t, dbtest.MigratedDSN(t))
	server, where := askingToSignIn(t, more...)
	m := &machines{T: t, server: server}
	for range 2 {
		own := []string{"--set", "paths.database=" + database, "--set", "schedules.history_sync=1s", "--data",
			filepath.Join(t.TempDir(), "data")}
		m.where = append(m.where, append(where[:2:2], own...))
	}
	for _, email := range append([]string{sample.Owner}, more...) {
		signInAs(t, email, m.where[0]...)
	}
	return m
}

// Tokens is the folder of a machine's grants.
func (m *machines) tokens(machine int) string {
	return filepath.Join(m.where[machine][len(m.where[machine])-1], "tokens")
}

// sorted delivers a letter, and waits until the rule has done its work on it.
func (m *machines) sorted(d *running) {
	m.Helper()
	letter, err := m.server.Deliver(m.Context(), []byte(letterNamed(100+m.letters)))
	require.NoError(m, err)
	m.letters++
	unsorted := len(letter.Labels)
	d.eventually("the letter has its label", func() bool { return len(labelsAt(m.T, m.server, letter.ID)) > unsorted })
}

// says is what a command prints on a machine.
func (m *machines) says(machine int, args ...string) string {
	m.Helper()
	r := postroomd(m.T, append(args, m.where[machine]...)...)
	require.Equal(m, 0, r.status, r.stderr)
	return r.stdout
}

// A daemon on a machine without the grants leaves the mailboxes to the one that has them, and says so.
func TestADaemonWithoutGrantsLeavesTheMailboxesToOthers(t *testing.T) {
	t.Parallel()
	m := newMachines(t, neighbour)
	first := start(t, m.where[0]...)
	first.ready()
	second := start(t, m.where[1]...)
	hint := "sign in on this machine with 'postroomd auth login " + sample.Owner + "'"
	second.eventually("it says what to do", func() bool {
		return strings.Contains(second.log(), "no access here: ") && strings.Contains(second.log(), hint)
	})
	lacks := "no access here: " + hint
	for range 3 {
		m.sorted(second)
	}
	second.ready()
	for _, a := range statusOf(t, m.where[0]...).Accounts {
		require.Equal(t, mailstore.AccountActive, a.State, a.Reason)
		require.Empty(t, a.Access)
	}
	for _, list := range [][]string{{"status"}, {"accounts", "list"}} {
		require.Contains(t, m.says(1, list...), lacks)
		require.NotContains(t, m.says(0, list...), "no access")
	}
	_, page := second.get("readyz")
	require.Contains(t, page, sample.Owner+": "+lacks)
	require.Contains(t, page, neighbour+": no access here")
	_, page = first.get("readyz")
	require.NotContains(t, page, "no access")
	require.Equal(t, 2, strings.Count(second.log(), "left to other processes"), "once for each mailbox: "+second.log())

	// Without the first, its work waits for another sign-in.
	first.stop()
	signIn(t, m.where[1]...)
	m.sorted(second)
	second.eventually("it says no more that it lacks the grant", func() bool {
		_, page := second.get("readyz")
		return !strings.Contains(page, lacks)
	})
	second.stop()
}

// What is revoked on one machine is revoked for all: Google does so, too.
func TestARevokedMailboxIsSignedOutOnAllMachines(t *testing.T) {
	t.Parallel()
	m := newMachines(t)
	require.Equal(t, 1, runOnce(t, m.where[0]...).New)
	m.says(0, "auth", "revoke", sample.Owner)
	for machine := range m.where {
		account := statusOf(t, m.where[machine]...).Accounts[0]
		require.Equal(t, mailstore.AccountReauthorize, account.State)
		require.Equal(t, "revoked by "+app.CurrentUser(), account.Reason)
	}
	signIn(t, m.where[0]...)
	require.Equal(t, mailstore.AccountActive, statusOf(t, m.where[1]...).Accounts[0].State)
}

// The folder of the grants can be copied, with its passphrase.
func TestGrantsAreCopiedToAnotherMachine(t *testing.T) {
	m := newMachines(t)
	require.Contains(t, m.says(1, "status"), "copy the folder "+m.tokens(1))
	r := postroomd(t, append([]string{"run", "--once"}, m.where[1]...)...)
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, sample.Owner+" could not be worked on: no access here: sign in on this machine")
	require.Zero(t, m.server.Counts()[gmailtest.LabelsList])

	require.NoError(t, os.RemoveAll(m.tokens(1)))
	require.NoError(t, os.CopyFS(m.tokens(1), os.DirFS(m.tokens(0))))
	require.NotContains(t, m.says(1, "status"), "no access")
	require.Equal(t, 1, runOnce(t, m.where[1]...).New)
}

// A daemon that has the token of one mailbox spends no attempts on the jobs of another, which another daemon may have
// the token of.
func TestADaemonWithATokenLeavesOtherMailboxesToOthers(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: apply_label, parameters: {label: Leaves}}", onPostgres(t), letterNamed(1))
	h := m.open()
	h.Env.Config.Gmail.Address = neighbour
	_, err := h.OpenConfiguredAccount(t.Context())
	require.NoError(t, err)
	d := start(t, m.where...)
	d.ready()
	d.eventually("the other mailbox is left to others", func() bool {
		return strings.Contains(d.log(), "left to other processes")
	})
	_, page := d.get("readyz")
	require.Contains(t, page, neighbour+": no access here: gmail.token is that of "+sample.Owner)
	d.stop()
	jobs, err := h.Queue.Jobs(t.Context(), queue.Filter{Limit: 1000})
	require.NoError(t, err)
	require.NotEmpty(t, jobs)
	for _, j := range jobs {
		require.Zero(t, j.Failures, "%s: %s", j.Type, j.LastError)
	}
}

// On one machine nothing else can work on a mailbox whose address was a mistake.
func TestAMailboxByMistakeIsNamed(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: apply_label, parameters: {label: Leaves}}", "", letterNamed(1))
	const mistake = "olaf@example.com"
	failedRun(t, append(slices.Clone(m.where), "--set", "gmail.address="+mistake, "--set",
		"gmail.endpoint=http://127.0.0.1:1")...)
	d := start(t, m.where...)
	remove := "'postroomd accounts remove " + mistake + "'"
	d.eventually("it says what to do", func() bool { _, page := d.get("readyz"); return strings.Contains(page, remove) })
	require.Contains(t, m.postroomd("status").stdout, remove)
	require.Contains(t, m.postroomd("status").stdout, "gmail.token is that of "+sample.Owner)
	r := m.postroomd("accounts", "remove", mistake, "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	d.ready()
	d.stop()
}

// What a person would approve of a mailbox that this machine has no access to is not done here: the list says so.
func TestRequestsThatCannotBeDoneHereAreMarked(t *testing.T) {
	m := newTeatime(t, forwardTea, "", letterNamed(1))
	runOnce(t, m.where...)
	const mark = "it cannot be done here, no access here: "
	here := m.postroomd("approvals", "list")
	require.Contains(t, here.stdout, "forward", here.stderr)
	require.NotContains(t, here.stdout, mark)
	elsewhere := m.postroomd("approvals", "list", "--set", "gmail.address="+neighbour)
	require.Contains(t, elsewhere.stdout, mark, elsewhere.stderr)

	type request struct{ ID, Access string }
	var list []request
	require.NoError(t, json.Unmarshal([]byte(m.postroomd("approvals", "list", "--json").stdout), &list))
	require.Empty(t, list[0].Access)
	other := []string{"--set", "gmail.address=" + neighbour}
	require.NotContains(t, m.postroomd("approvals", "show", list[0].ID).stdout, mark)
	require.Contains(t, m.postroomd(append(other, "approvals", "show", list[0].ID)...).stderr, "no access here; ",
		"what it sends cannot be composed here")
	asJSON := m.postroomd(append(other, "approvals", "list", "--json")...)
	require.NoError(t, json.Unmarshal([]byte(asJSON.stdout), &list), asJSON.stderr)
	require.Contains(t, list[0].Access, mark)
}
