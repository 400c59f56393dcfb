package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	neturl "net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// What somebody can do who writes to the database, and has no key.

const contract = "From: Boss <boss@example.com>\r\nTo: " + sample.Owner +
	"\r\nSubject: Contract\r\nMessage-ID: <contract@example.com>\r\n\r\nKeep this for ever.\r\n"

func (m *teatime) exec(statement string) {
	m.Helper()
	h := m.open()
	require.NoError(m, h.DB.Write(m.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	}))
}

// insertJob writes a job into the queue, as anybody can.
func (m *teatime) insertJob(job queue.NewJob) {
	m.Helper()
	_, err := m.open().Queue.Enqueue(m.Context(), job)
	require.NoError(m, err)
}

// forge makes another message of the stored contract, about which nobody has decided, and has it decided about.
func (m *teatime) forge(set string) {
	m.Helper()
	const id = "01999999-0000-7000-8000-00000000000f"
	h := m.open()
	accounts, err := h.Mail.Accounts(m.Context())
	require.NoError(m, err)
	m.exec("PRAGMA defer_foreign_keys = 1")
	m.exec("UPDATE messages SET id = '" + id + "', " + set + " WHERE subject = 'Contract'")
	m.insertJob(rules.NewClassifyJob(accounts[0].ID, id))
}

// verified checks that nothing is found.
func (m *teatime) verified() {
	m.Helper()
	v := m.postroomd("audit", "verify")
	require.Equal(m, 0, v.status, v.stdout+v.stderr)
}

// TestRuleDeletesForGoodWhatGmailHas: the row of a message is given the subject that a rule deletes.
func TestRuleDeletesForGoodWhatGmailHas(t *testing.T) {
	m := newTeatime(t, "{action: delete, safe_mode: dangerous_override}", "", contract, letterNamed(1))
	runOnce(t, m.where...)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete], "the tea")
	m.forge("subject = 'Tea'")
	runOnce(t, m.where...)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 2, postroom.ActionPendingApproval: 1},
		m.states(), "nothing was done to the contract")
	shown := m.postroomd("approvals", "list").stdout
	require.Contains(t, oneLine(shown),
		`the message at Gmail, from Boss <boss@example.com> with the subject "Contract", is not what was decided about: `+
			`the rules do not decide delete by rule 'Tea' about it, as they are now`)
	m.verified()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestRuleDeletesForGoodWhatNoExceptionKeeps: the row is given another sender, whom the rule that keeps the mail does
// not name.
func TestRuleDeletesForGoodWhatNoExceptionKeeps(t *testing.T) {
	m := newTeatime(t, deleteTea, "", contract)
	m.rules(`rules:
  - {name: Boss, priority: 1, condition: {type: sender_email, value: boss@example.com}, action: none}
  - {name: Contracts, condition: {type: subject_regex, value: Contract}, action: delete, safe_mode: dangerous_override}
`)
	runOnce(t, m.where...)
	m.forge("from_email = 'mallory@example.net'")
	runOnce(t, m.where...)
	require.Zero(t, m.server.Counts()[gmailtest.MessagesDelete])
	require.Equal(t, 1, m.states()[postroom.ActionPendingApproval])
	m.verified()
}

// TestRuleAnswersWhomGmailNames: the row is given another subject and another sender.
func TestRuleAnswersWhomGmailNames(t *testing.T) {
	m := newTeatime(t, "{action: auto_reply, parameters: {body: Gladly.}, safe_mode: dangerous_override}", "", contract)
	runOnce(t, m.where...)
	m.forge(
		`subject = 'Tea', from_email = 'mallory@example.net', from_name = 'Mallory', headers_json = replace(headers_json, 'boss@example.com', 'mallory@example.net')`)
	runOnce(t, m.where...)
	require.Zero(t, m.sent())
	waits := m.actions()[0]
	require.Equal(t, postroom.ActionPendingApproval, waits.State)
	require.Contains(t, m.postroomd("approvals", "show", waits.ID).stdout, "boss@example.com",
		"to whom it would go, by what Gmail has")
	m.verified()
}

// TestRuleDeletesForGoodWhatItHasItselfChanged: the actions of one decision come one after another, and the last is
// that of the message as it was before the first.
func TestRuleDeletesForGoodWhatItHasItselfChanged(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1), letterNamed(2))
	m.rules(`rules:
  - name: Tea
    condition: {op: and, children: [{type: unread}, {type: label_present, value: INBOX}, {type: subject_regex, value: ^Tea}, {type: newer_than, value: 1h}]}
    actions: [{action: mark_read}, {action: archive}, {action: star}, {action: delete}]
    schedule: {until: 2100-01-01}
    safe_mode: dangerous_override
`)
	m.where = append(m.where, "--set", "app.workers=1") // in their order
	runOnce(t, m.where...)
	require.Equal(t, 2, m.server.Counts()[gmailtest.MessagesDelete], m.postroomd("actions").stdout)
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 8}, m.states())
	m.verified()
}

// TestTheSecondLookAllowsForOtherActions: another action of the rule changes the message between what is permitted
// and what Gmail answers.
func TestTheSecondLookAllowsForOtherActions(t *testing.T) {
	const letters = 8
	var mail []string
	for n := range letters {
		mail = append(mail, letterNamed(n+1))
	}
	m := newTeatime(t, deleteTea, "", mail...)
	m.rules(`rules:
  - name: Tea
    condition: {op: and, children: [{type: unread}, {type: subject_regex, value: ^Tea}]}
    actions: [{action: delete}, {action: mark_read}]
    safe_mode: dangerous_override
`)
	m.where = append(m.where, "--set", "gmail.endpoint="+overtaking(t, m.server.URL()))
	runOnce(t, m.where...)
	require.Zero(t, m.states()[postroom.ActionPendingApproval], m.postroomd("approvals", "list").stdout)
	require.Equal(t, letters, m.server.Counts()[gmailtest.MessagesDelete])
	m.verified()
}

// overtaking is a Gmail that changes a message while it is asked for the raw message, and answers that afterwards.
// Either waits at most a second for the other.
func overtaking(t *testing.T, gmail string) (url string) {
	to, err := neturl.Parse(gmail)
	require.NoError(t, err)
	type meeting struct {
		reads           atomic.Int32
		asked, changed  chan struct{}
		onAsk, onChange sync.Once
	}
	var meetings sync.Map
	wait := func(c chan struct{}) {
		select {
		case <-c:
		case <-time.After(time.Second):
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, modify := strings.CutSuffix(r.URL.Path, "/modify")
		found, _ := meetings.LoadOrStore(path, &meeting{asked: make(chan struct{}), changed: make(chan struct{})})
		at, _ := found.(*meeting)
		switch {
		case modify:
			wait(at.asked)
			defer at.onChange.Do(func() { close(at.changed) })
		case r.URL.Query().Get("format") == "raw" && at.reads.Add(1) == 1:
			at.onAsk.Do(func() { close(at.asked) })
			wait(at.changed)
		}
		httputil.NewSingleHostReverseProxy(to).ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestNoMessageIsWokenThatDoesNotSleep: somebody inserts a job that puts archived mail back into the inbox, and takes
// a label off.
func TestNoMessageIsWokenThatDoesNotSleep(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	runOnce(t, m.where...)
	archived, err := m.open().Ledger.Action(t.Context(), m.actions()[0].ID)
	require.NoError(t, err)
	before := m.server.Counts()[gmailtest.MessagesModify]
	for _, id := range []string{"none", archived.ID} {
		m.insertJob(gmail.NewUnsnoozeJob(gmail.UnsnoozePayload{
			AccountID: archived.AccountID, MessageID: archived.MessageID, ActionID: id, SnoozeLabelID: postroom.LabelUnread,
		}, time.Now()))
	}
	runOnce(t, m.where...)
	require.Equal(t, before, m.server.Counts()[gmailtest.MessagesModify])
	m.verified()
}
