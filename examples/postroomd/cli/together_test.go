package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/queue"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU"

// toldAt is the configuration of a webhook.
func toldAt(t *testing.T, url string) string {
	t.Helper()
	t.Setenv("TEST_WEBHOOK_SECRET", webhookSecret)
	return "[webhook]\nurl = \"" + url + "\"\nsecret = \"env:TEST_WEBHOOK_SECRET\"\nallow_private = true\n"
}

// A run that is to end does not wait for what is stopped, though there are jobs for later as well.
func TestRunOnceEndsWhileAllIsStopped(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	m := newTeatime(t, deleteTea, toldAt(t, receiver.URL), letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	require.Equal(t, 0, m.postroomd("stop").status)
	id := m.actions()[0].ID
	r := m.postroomd("approvals", "approve", id)
	require.Equal(t, 0, r.status, r.stderr)
	runOnce(t, m.where...)
	require.Zero(t, m.server.Counts()[gmailtest.MessagesDelete])
	require.Equal(t, 0, m.postroomd("resume").status)
	runOnce(t, m.where...)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
}

// What was decided meanwhile is not reported as done.
func TestRunOnceSaysWhatIsStopped(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	first := runOnce(t, m.where...)
	require.Empty(t, first.Stopped)
	require.Zero(t, first.Waiting)
	require.Equal(t, 0, m.postroomd("stop", "--why", "odd mail").status)
	for _, n := range []int{2, 3} {
		_, err := m.server.Deliver(t.Context(), []byte(letterNamed(n)))
		require.NoError(t, err)
	}
	s := runOnce(t, m.where...)
	require.Equal(t, 2, s.Waiting)
	require.Regexp(t, "^stopped by "+regexp.QuoteMeta(app.CurrentUser())+" on .*: odd mail$", s.Stopped)
	require.Contains(t, m.postroomd("run", "--once").stdout, "2 actions wait to be carried out:\n  "+s.Stopped+"\n")
	require.Equal(t, 0, m.postroomd("resume").status)
	s = runOnce(t, m.where...)
	require.Empty(t, s.Stopped)
	require.Zero(t, s.Waiting)
}

// What rules decide is recorded with the message, without a job in between.
func TestRulesDecideWithoutAJob(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	require.Len(t, m.actions(), 2)
	r := m.postroomd("jobs", "list", "--type", "ingest.gmail,classify", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "ingest.gmail")
	require.NotContains(t, r.stdout, "classify")
}

// Nor does it wait for an address that is told of requests and does not answer.
func TestRunOnceEndsThoughAWebhookIsDown(t *testing.T) {
	receiver := httptest.NewServer(http.NotFoundHandler())
	receiver.Close()
	m := newTeatime(t, deleteTea, toldAt(t, receiver.URL), letterNamed(1))
	runOnce(t, m.where...)
	require.Len(t, m.actions(), 1)
}

// What waits in a mailbox that is removed is withdrawn, and those who were asked are told.
func TestARemovedMailboxWithdrawsItsRequests(t *testing.T) {
	m, server := atDiscord(t, deleteTea, letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	r := m.postroomd("accounts", "remove", "you@example.com", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	for _, a := range m.actions() {
		require.Equal(t, postroom.ActionCanceled, a.State)
	}
	runOnce(t, m.where...)
	withdrawn := 0
	for _, message := range server.Messages() {
		if strings.Contains(message.Text(), "the mailbox was removed") {
			withdrawn++
		}
	}
	require.Equal(t, 2, withdrawn)
	require.Equal(t, 0, m.postroomd("audit", "verify").status)
}

// Rules that are applied in a dry run are only counted: the batch can be done afterwards, under its name.
func TestApplyInADryRunRecordsNothing(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	where := m.where
	m.where = append(append([]string{}, where...), "--set", "safety.dry_run=true")
	runOnce(t, m.where...)
	apply := func() (v view.Applied) {
		r := m.postroomd("rules", "apply", "--yes", "--batch", "b1", "--json")
		require.Equal(t, 0, r.status, r.stderr)
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
		return v
	}
	require.Equal(t, 2, apply().Actions["archive"])
	require.Empty(t, m.actions())
	m.where = where
	require.Equal(t, 2, apply().Actions["archive"])
	runOnce(t, m.where...)
	require.Equal(t, 2, m.server.Counts()[gmailtest.MessagesModify])
}

// A rule that forwards a message and deletes it does both, in whatever order it names them.
func TestWhatIsDeletedIsForwardedBefore(t *testing.T) {
	forward := "{action: forward, parameters: {to: " + colleague + "}}"
	for _, actions := range []string{forward + ", {action: delete}", "{action: delete}, " + forward} {
		m := newTeatime(t, "{safe_mode: dangerous_override, actions: ["+actions+"]}", "", letterNamed(1), letterNamed(2),
			letterNamed(3))
		require.Zero(t, m.arrived(colleague))
		runOnce(t, m.where...)
		require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 6}, m.states())
		require.Equal(t, 3, m.arrived(colleague))
		require.Equal(t, 3, m.server.Counts()[gmailtest.MessagesDelete])
	}
}

// What a dry run has left out is no reason to stop anybody.
func TestADryRunOpensNoBreaker(t *testing.T) {
	server := newGmail(t)
	where := []string{"--config", configure(t, server, "[safety]\nbreaker_actions = 5\n"), "--data",
		filepath.Join(t.TempDir(), "data")}
	runOnce(t, append(where, "--dry-run")...)
	r := postroomd(t, append([]string{"status"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, r.stdout, "is stopped")
}

// A label that is missing while all is stopped, or in a dry run, is not made. What needs it is decided, and done
// afterwards.
func TestWhatNeedsAMissingLabelWaits(t *testing.T) {
	m := newTeatime(t, "{action: apply_label, parameters: {label: Tea}}\nlabels: [Tea]", "", letterNamed(1))
	where := m.where
	m.where = append(append([]string{}, where...), "--set", "safety.dry_run=true")
	require.Equal(t, []string{"Tea"}, runOnce(t, m.where...).Wanted, "a dry run says what it would make")
	require.Contains(t, m.postroomd("status").stdout, "to be made: Tea")
	require.Empty(t, m.states())
	m.where = where
	require.Equal(t, 0, m.postroomd("stop").status)
	for _, n := range []int{2, 3} {
		_, err := m.server.Deliver(t.Context(), []byte(letterNamed(n)))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"Tea"}, runOnce(t, m.where...).Wanted)
	require.Zero(t, m.server.Counts()[gmailtest.LabelsCreate])
	require.Equal(t, 3, m.states()[postroom.ActionQueued], "that of the dry run, too")
	require.Equal(t, 0, m.postroomd("resume").status)
	require.Empty(t, runOnce(t, m.where...).Wanted)
	// The sync and what had waited for the label may both ask for it; Gmail makes one.
	require.NotZero(t, m.server.Counts()[gmailtest.LabelsCreate])
	require.Equal(t, 3, m.states()[postroom.ActionCompleted], m.postroomd("actions").stdout+
		m.postroomd("jobs", "list", "--type", "action.gmail").stdout)
}

// Who approves is told that it waits, and why, at each door.
func TestAnApprovalSaysThatItWaits(t *testing.T) {
	m, c := newAPI(t, deleteTea)
	require.Equal(t, 0, m.postroomd("stop", "--why", "odd mail").status)
	var list []webapi.Request
	c.get("", &list)
	status, answer := c.call("POST", "/"+list[0].ID+"/approve", answerTo(list[0], ""))
	require.Equal(t, http.StatusOK, status, answer)
	require.Contains(t, answer, "odd mail")
	r := m.postroomd("approvals", "approve", list[1].ID)
	require.Contains(t, r.stdout, ": queued; it waits: stopped by "+app.CurrentUser())
	r = m.postroomd("approvals", "approve", "--all-of", "Tea", "--yes")
	require.Contains(t, r.stdout, ": queued; it waits: stopped by "+app.CurrentUser())
	require.Equal(t, 0, m.postroomd("resume").status)
	runOnce(t, m.where...)
	require.Equal(t, 3, m.states()[postroom.ActionCompleted])
}

// What is decided about while its mailbox is removed is withdrawn as well.
func TestARequestThatComesDuringARemovalIsWithdrawn(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	require.NoError(t, m.open().DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, `CREATE TRIGGER late AFTER DELETE ON messages BEGIN
			UPDATE actions SET state = 'pending_approval' WHERE account_id = old.account_id; END`)
		return err
	}))
	r := m.postroomd("accounts", "remove", "you@example.com", "--yes")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionCanceled: 1}, m.states())
}

// Nor does a run wait for a job that it does not handle, due or not.
func TestRunOnceEndsBesideJobsOfOthers(t *testing.T) {
	m := newTeatime(t, "{action: snooze, parameters: {amount: 1, units: hours}}", "", letterNamed(1))
	runOnce(t, m.where...) // leaves a wake-up for later
	_, err := m.open().Queue.Enqueue(t.Context(), queue.Type[struct{}]("of.another.program").New(struct{}{}, nil))
	require.NoError(t, err)
	runOnce(t, m.where...)
	require.Equal(t, 1, m.states()[postroom.ActionCompleted])
}
