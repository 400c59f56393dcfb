package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// onlyAccount returns the id of the configured mailbox, or of the one that there is.
func onlyAccount(ctx context.Context, h *app.App) (accountID string, err error) {
	if h.Env.Config.Gmail.Address != "" {
		return h.OpenConfiguredAccount(ctx)
	}
	accounts, err := h.Worked(ctx)
	if err != nil {
		return "", err
	}
	return accounts[0].ID, nil
}

// failedRun is run --once where a mailbox cannot be worked on: the exit status is 1, and the summary is there all the
// same.
func failedRun(t *testing.T, args ...string) view.Summary {
	t.Helper()
	r := postroomd(t, append([]string{"run", "--once", "--json"}, args...)...)
	require.Equal(t, exitFailed, r.status, r.stderr)
	require.Contains(t, r.stderr, "could not be worked on; the summary says why")
	require.LessOrEqual(t, strings.Count(r.stderr, "Sorting: "), 2, "progress is told where there is some")
	var s view.Summary
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s), "standard output holds one JSON object and nothing else")
	return s
}

func TestRunOnceFailsWithTheTokenOfAnotherMailbox(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	m.where = append(m.where, "--set", "gmail.address="+neighbour)
	box := failedRun(t, m.where...).Mailboxes[0]
	require.Equal(t, neighbour, box.Email)
	require.Contains(t, box.Failure, "its labels could not be read: ")
	require.Contains(t, box.Failure, "leads to the mailbox "+sample.Owner)
	require.Contains(t, m.postroomd("run", "--once").stdout,
		neighbour+" could not be worked on: its labels could not be read: ")
	require.Zero(t, m.server.Counts()[gmailtest.MessagesGet])
}

// A server that does not answer is tried a few times, and what is left to do waits for the next run.
func TestRunOnceEndsThoughNoServerAnswers(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	here := m.where
	m.where = append(slices.Clone(here), "--set", "gmail.endpoint=http://127.0.0.1:1")
	for range 2 {
		box := failedRun(t, m.where...).Mailboxes[0]
		require.Regexp(t,
			`^its labels could not be read in 3 attempts: .*connection refused.*; when its server answers, run this again`,
			box.Failure)
	}
	m.where = here
	require.Equal(t, 1, runOnce(t, m.where...).New)
}

// signedIn is a Gmail with the mailboxes of the addresses besides the sample's owner, all of which are signed in to.
func signedIn(t *testing.T, more ...string) (server *gmailtest.Server, where []string) {
	t.Helper()
	server, where = askingToSignIn(t, more...)
	for _, email := range append([]string{sample.Owner}, more...) {
		signInAs(t, email, where...)
	}
	return server, where
}

// askingToSignIn is that Gmail before anybody has signed in. Each of the mailboxes has a letter.
func askingToSignIn(t *testing.T, more ...string) (server *gmailtest.Server, where []string) {
	t.Helper()
	server, err := gmailtest.Open(t.Context(),
		gmailtest.Config{Email: sample.Owner, OAuth: gmailtest.OAuth{Required: true}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	rules := writeFile(t, "rules.yaml",
		"rules:\n  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, action: apply_label, parameters: {label: Leaves}}\n")
	file := writeFile(t, "config.toml", fmt.Sprintf(
		"[gmail]\nold_mail = \"sort\"\nclient_id = \"me\"\nendpoint = %q\nauth_server = %q\ntokens = \"file\"\npassphrase = %q\nunits_per_minute = 0\n"+
			"[paths]\nrules = %q\n", server.URL(), server.URL(), inEnv(t, "correct horse"), rules))
	_, err = server.Deliver(t.Context(), []byte(letterNamed(0)))
	require.NoError(t, err)
	for n, email := range more {
		_, err := mustAccount(t, server, email).Deliver(t.Context(), []byte(letterNamed(n+1)))
		require.NoError(t, err)
	}
	return server, []string{"--config", file, "--data", migratedFolder(t)}
}

func TestRunOnceSaysThatAccessWasTakenAway(t *testing.T) {
	_, where := signedIn(t)
	require.Equal(t, 1, runOnce(t, where...).New)
	r := postroomd(t, append([]string{"auth", "revoke", sample.Owner}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	box := failedRun(t, where...).Mailboxes[0]
	require.Equal(t, mailstore.AccountReauthorize, box.State)
	require.Contains(t, box.Failure, "sign in again with 'postroomd auth login'")
}

// Of several mailboxes all are worked on, or the one that is named; what is wrong with one keeps none from the others.
func TestRunOnceWorksOnAllMailboxes(t *testing.T) {
	t.Parallel()
	server, where := signedIn(t, neighbour)
	first := runOnce(t, append(where, "--set", "gmail.address="+neighbour)...)
	require.Equal(t, []view.MailboxRun{{Email: neighbour, State: mailstore.AccountActive, Messages: 1}}, first.Mailboxes)
	all := runOnce(t, where...)
	require.Equal(t, []int{2, 1, 2}, []int{all.Messages, all.New, all.Rules["Tea"]})
	require.Zero(t, all.Failed)
	require.ElementsMatch(t, []view.MailboxRun{
		{Email: neighbour, State: mailstore.AccountActive, Messages: 1}, {Email: sample.Owner, State: mailstore.AccountActive, Messages: 1},
	}, all.Mailboxes)

	for _, deliver := range []func(context.Context, []byte) (gmailtest.Message, error){server.Deliver,
		mustAccount(t, server, neighbour).Deliver} {
		_, err := deliver(t.Context(), []byte(letterNamed(9)))
		require.NoError(t, err)
	}
	server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Account: neighbour, Status: 503, Times: -1})
	half := failedRun(t, where...)
	require.Equal(t, 1, half.New)
	for _, box := range half.Mailboxes {
		require.Equal(t, box.Email == neighbour, box.Failure != "", box.Failure)
	}
	server.ClearFaults()
	r := postroomd(t, append([]string{"accounts", "pause", sample.Owner}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	r = postroomd(t, append([]string{"run", "--once"}, where...)...)
	require.Equal(t, 0, r.status, "a person has paused it")
	require.Contains(t, r.stdout, sample.Owner+" is paused (paused by "+app.CurrentUser()+
		"), and nothing is done there until 'postroomd accounts resume "+sample.Owner+"'.\n")
	require.Contains(t, r.stdout, neighbour+": 2 messages are stored.\n")
}

func mustAccount(t *testing.T, server *gmailtest.Server, email string) *gmailtest.Account {
	t.Helper()
	account, err := server.Account(t.Context(), email)
	require.NoError(t, err)
	return account
}

// Who starts again what waits for its next attempt does not wait as well.
func TestAStartTriesTheLabelsAtOnce(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	m.server.Fault(gmailtest.Fault{Method: gmailtest.LabelsList, Status: http.StatusServiceUnavailable, Times: -1})
	failedRun(t, m.where...)
	m.server.ClearFaults()
	h := m.open()
	jobs, err := h.Queue.Jobs(t.Context(), queue.Filter{Types: []string{string(gmail.JobLabelsSync)}})
	require.NoError(t, err)
	require.Positive(t, jobs[0].Failures)
	require.NoError(t, h.Backlog.AskAgain(t.Context()))
	job, err := h.Queue.Job(t.Context(), jobs[0].ID)
	require.NoError(t, err)
	require.False(t, job.NotBefore.After(time.Now()))
	require.Equal(t, 1, runOnce(t, m.where...).New)
}

// In quiet hours nothing has failed: what waits for their end is counted, and the mailbox is in order.
func TestRunOnceInQuietHours(t *testing.T) {
	day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format("Mon") }
	quiet := fmt.Sprintf("[safety]\nquiet_zone = \"UTC\"\nquiet_hours = [\"%s,%s,%s 00:00-24:00\"]\n", day(-1),
		day(0), day(1))
	m := newTeatime(t, "{action: archive}", quiet, letterNamed(1))
	s := runOnce(t, m.where...)
	require.Empty(t, s.Mailboxes[0].Failure)
	require.Equal(t, 1, s.Waiting)
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionQueued: 1}, m.states())

	require.Regexp(t, `(?m)^quiet hours +until \d{4}-\d\d-\d\d \d\d:\d\d; 1 action waits$`, m.postroomd("status").stdout)
	require.Contains(t, m.postroomd("status", "--json").stdout, `"quiet_hours": {`)
	require.NotContains(t, m.postroomd("status", "--set", "safety.quiet_hours=").stdout, "quiet hours")
}

// So it is with what finds mail.
func TestAStartLooksForMailAtOnce(t *testing.T) {
	m := newTeatime(t, deleteTea, "")
	runOnce(t, m.where...)
	h := m.open()
	accountID, err := h.OpenConfiguredAccount(t.Context())
	require.NoError(t, err)
	for _, job := range []queue.NewJob{gmail.NewHistorySyncJob(accountID, 0), gmail.NewBackfillJob(accountID, "", "")} {
		enqueued, err := h.Queue.Enqueue(t.Context(), job)
		require.NoError(t, err)
		claimed, err := h.Queue.Claim(t.Context(), "one", []string{job.Type}, 1)
		require.NoError(t, err)
		require.NoError(t, claimed[0].Fail(t.Context(), errors.New("no network")))
		require.NoError(t, h.Backlog.AskAgain(t.Context()))
		due, err := h.Queue.Job(t.Context(), enqueued.ID)
		require.NoError(t, err)
		require.Equal(t, queue.StateQueued, due.State)
		require.False(t, due.NotBefore.After(time.Now()), job.Type)
	}
}

// What has failed and is not tried again soon is left to the next run.
func TestRunOnceEndsThoughTheServerGoesAway(t *testing.T) {
	t.Parallel()
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	gone := gmailtest.Fault{Method: gmailtest.HistoryList, Status: http.StatusServiceUnavailable,
		RetryAfter: time.Hour, Times: -1}
	m.server.Fault(gone)
	box := failedRun(t, m.where...).Mailboxes[0]
	require.Regexp(t, `^1 job is tried again after .*, of job [0-9a-f-]+ \(history\.sync\.gmail\): .*`, box.Failure)
	require.Equal(t, 1, m.states()[postroom.ActionCompleted], "what the server answers is done")
	require.Contains(t, m.postroomd("run", "--once").stdout, sample.Owner+
		" could not be worked on: 1 job is tried again after ")
}
