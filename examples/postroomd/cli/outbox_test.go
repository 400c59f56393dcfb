package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/cli/command"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

const (
	colleague = "colleague@example.com"

	letterWithFile = "From: Ann <ann@example.com>\r\nTo: " + sample.Owner +
		"\r\nSubject: Tea?\r\nMessage-ID: <tea@example.com>\r\n" +
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nAt five?\r\n--b\r\nContent-Disposition: attachment; filename=plan.txt\r\n" +
		"Content-Type: text/plain\r\n\r\nbiscuits\r\n--b--\r\n"
	letterOfList = "From: Ann <ann@example.com>\r\nTo: list@example.com\r\nSubject: Tea?\r\nMessage-ID: <list@example.com>\r\n" +
		"List-Id: <list.example.com>\r\nPrecedence: list\r\n\r\nAt five?\r\n"

	forwardTea = "{action: forward, parameters: {to: " + colleague + ", body: For you.}}"
	answerTea  = "{action: auto_reply, parameters: {body: Gladly.}}"
	deleteTea  = "{action: delete}"
)

// A teatime is a mailbox with one rule, for mail about tea.
type teatime struct {
	*testing.T
	server *gmailtest.Server
	where  []string
}

func newTeatime(t *testing.T, rule, settings string, letters ...string) *teatime {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	for _, letter := range letters {
		_, err := server.Deliver(t.Context(), []byte(letter))
		require.NoError(t, err)
	}
	rules := filepath.Join(t.TempDir(), "rules.yaml")
	text := "rules:\n  - {name: Tea, condition: {type: subject_regex, value: ^Tea}, " +
		strings.TrimPrefix(rule, "{") + "\n"
	require.NoError(t, os.WriteFile(rules, []byte(text), 0o600))
	where := []string{"--config", configure(t, server, settings), "--data", migratedFolder(t), "--set",
		"paths.rules=" + rules}
	return &teatime{t, server, where}
}

func (m *teatime) postroomd(args ...string) result {
	m.Helper()
	return postroomd(m.T, append(args, m.where...)...)
}

func (m *teatime) actions() (actions []webapi.Action) {
	m.Helper()
	r := m.postroomd("actions", "--json")
	require.Equal(m, 0, r.status, r.stderr)
	require.NoError(m, json.Unmarshal([]byte(r.stdout), &actions))
	return actions
}

func (m *teatime) sent() int { return m.server.Counts()[gmailtest.MessagesSend] }

// A rule forwards: a person sees the message, approves it, and these bytes arrive, once.
func TestForwardIsShownApprovedAndDeliveredOnce(t *testing.T) {
	m := newTeatime(t, forwardTea, "", letterWithFile)
	other, err := m.server.Account(t.Context(), colleague)
	require.NoError(t, err)
	r := start(t, m.where...)
	r.ready()
	r.eventually("it waits", func() bool {
		actions := m.actions()
		return len(actions) == 1 && actions[0].State == postroom.ActionPendingApproval
	})
	id := m.actions()[0].ID

	shown := m.postroomd("approvals", "show", id)
	require.Equal(t, 0, shown.status, shown.stderr)
	for _, line := range []string{
		`(?m)^To: +` + colleague + `$`, `(?m)^Subject: +Fwd: Tea\?$`, `(?m)^Auto-Submitted: +auto-generated$`,
		`(?m)^attachment +plan\.txt \(text/plain, 8 bytes\)$`, `(?m)^\| For you\.$`, `(?m)^\| .*At five\?$`,
	} {
		require.Regexp(t, line, shown.stdout)
	}
	raw := m.postroomd("approvals", "show", id, "--raw")
	require.Equal(t, 0, raw.status, raw.stderr)
	require.Equal(t, raw.stdout, m.postroomd("approvals", "show", id, "--raw").stdout)
	var view webapi.Approval
	require.NoError(t, json.Unmarshal([]byte(m.postroomd("approvals", "show", id, "--json").stdout), &view))
	require.Equal(t, []postroom.Attachment{{Filename: "plan.txt", ContentType: "text/plain", Size: 8}}, view.Message.Files)
	require.Contains(t, shown.stdout, view.Message.SHA256)
	require.Zero(t, m.sent(), "nobody has approved it")

	approved := m.postroomd("approvals", "approve", id)
	require.Equal(t, 0, approved.status, approved.stderr)
	r.eventually("it is sent", func() bool { return m.actions()[0].State == postroom.ActionCompleted })
	require.Equal(t, exitUsage, m.postroomd("approvals", "approve", id).status, "an answer is final")
	require.Equal(t, exitUsage, m.postroomd("approvals", "show", id).status, "it waits no longer")
	require.Equal(t, 1, m.sent())
	require.True(t, bytes.HasSuffix(onlyMail(t, other), []byte(raw.stdout)), "what was shown is what arrives")
	r.stop()
}

// onlyMail returns the bytes of the one message of a mailbox.
func onlyMail(t *testing.T, account *gmailtest.Account) []byte {
	t.Helper()
	mail, err := account.Snapshot(t.Context())
	require.NoError(t, err)
	require.Len(t, mail, 1)
	service, err := account.Service(t.Context())
	require.NoError(t, err)
	message, err := service.Users.Messages.Get("me", mail[0].ID).Format("raw").Do()
	require.NoError(t, err)
	raw, err := base64.URLEncoding.DecodeString(message.Raw)
	require.NoError(t, err)
	return raw
}

// An approval names the bytes, also of one who has not looked at them: nothing is composed after it.
func TestApprovalNamesTheBytes(t *testing.T) {
	m := newTeatime(t, answerTea, "", letterWithFile)
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	h := m.open()
	before, err := h.Ledger.Action(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, before.ContentSHA256)

	done := make(chan result, 1)
	go func() { done <- m.postroomd("approvals", "approve", id) }() // it waits for a postroomd that runs; there is none
	var approved postroom.Action
	require.Eventually(t, func() bool {
		approved, err = h.Ledger.Action(t.Context(), id)
		return err == nil && approved.State == postroom.ActionQueued
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, approved.ContentSHA256, 64)
	r := <-done
	require.Equal(t, 0, r.status, r.stderr)

	runOnce(t, m.where...)
	require.Equal(t, postroom.ActionCompleted, m.actions()[0].State)
	require.Equal(t, 1, m.sent())
}

func (m *teatime) open() *app.App {
	m.Helper()
	cmd := new(cobra.Command)
	place := command.NewEnvironmentFlags(cmd)
	require.NoError(m, cmd.ParseFlags(m.where))
	s, err := place.Existing(cmd)
	require.NoError(m, err)
	h, err := app.Open(m.Context(), s)
	require.NoError(m, err)
	m.Cleanup(func() { require.NoError(m, h.Close()) })
	return h
}

// What cannot be sent is neither shown nor approved, and the person is told why.
func TestMessageThatCannotBeSentIsNotApproved(t *testing.T) {
	away := func(m *teatime) {
		m.server.Fault(gmailtest.Fault{Method: gmailtest.SettingsSendAsList, Status: http.StatusNotImplemented, Times: -1})
	}
	fewer := func(m *teatime) { m.where = append(m.where, "--set", "outbound.max_recipients=1") }
	for name, c := range map[string]struct {
		rule, settings, letter string
		before                 func(m *teatime)
		status                 int
		says                   string
	}{
		"fewer recipients are allowed since": {
			rule: "{action: forward, parameters: {to: [a@example.com, b@example.com]}}", before: fewer,
			letter: letterWithFile, status: exitUsage, says: "it has 2 recipients; at most 1 are allowed",
		},
		"Gmail is away": {rule: forwardTea, letter: letterWithFile, before: away, status: exitFailed, says: "501"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTeatime(t, c.rule, c.settings, c.letter)
			runOnce(t, m.where...)
			if c.before != nil {
				c.before(m)
			}
			id := m.actions()[0].ID
			for _, command := range []string{"show", "approve"} {
				r := m.postroomd("approvals", command, id)
				require.Equal(t, c.status, r.status, r.stderr)
				require.Contains(t, r.stderr, c.says)
				require.Empty(t, r.stdout)
			}
			require.Equal(t, postroom.ActionPendingApproval, m.actions()[0].State, "nothing is approved")
			require.Zero(t, m.sent())
		})
	}
}

// What is known when it is decided to be refused in the end is not asked about: it is on record, and nothing waits.
func TestNobodyIsAskedAboutWhatIsNeverSent(t *testing.T) {
	unread := strings.Replace(letterWithFile, "ann@", "no-reply@", 1)
	for name, c := range map[string]struct{ rule, settings, letter, says string }{
		"an answer to a list":          {answerTea, "", letterOfList, "cannot be carried out: the original was sent by a program or to many (bulk: "},
		"an answer to no-reply":        {answerTea, "", unread, "cannot be carried out: the original was sent by a program or to many (unattended: "},
		"an answer to an auto-reply":   {answerTea, "", "Auto-Submitted: auto-replied\r\n" + letterWithFile, "(auto_reply: Auto-Submitted: auto-replied), and gets no automatic reply"},
		"a forward to too many":        {"{action: forward, parameters: {to: [a@example.com, b@example.com]}}", "[outbound]\nmax_recipients = 1\n", letterWithFile, "it has 2 recipients; at most 1 are allowed (outbound.max_recipients)"},
		"an answer without a person":   {strings.Replace(answerTea, "{", "{safe_mode: dangerous_override, authentication: not_required, ", 1), "", letterOfList, "gets no automatic reply"},
		"a forward back to the sender": {"{action: forward, parameters: {to: ann@example.com}}", "", letterWithFile, "ann@example.com is the sender of the original"},
	} {
		t.Run(name, func(t *testing.T) {
			m := newTeatime(t, c.rule, c.settings, c.letter)
			runOnce(t, m.where...)
			a := m.actions()[0]
			require.Equal(t, postroom.ActionCanceled, a.State)
			require.Contains(t, a.Error, c.says)
			r := m.postroomd("approvals", "list")
			require.Equal(t, 0, r.status, r.stderr)
			require.NotContains(t, r.stdout, a.ID)
			require.Zero(t, m.sent())
		})
	}
}

// A rule that may act without a person keeps the same bounds.
func TestSendingWithoutAPersonIsBounded(t *testing.T) {
	second := strings.ReplaceAll(letterWithFile, "tea@", "tea2@")
	for name, c := range map[string]struct {
		rule, settings string
		letters        []string
		sent           int
		says           string
	}{
		"reply_interval": {answerTea, `reply_interval = "90m"`, []string{letterWithFile, second}, 1, "within the last 1h30m0s (outbound.reply_interval)"},
	} {
		t.Run(name, func(t *testing.T) {
			rule := strings.TrimSuffix(c.rule, "}") + ", safe_mode: dangerous_override}"
			m := newTeatime(t, rule, "[outbound]\n"+c.settings+"\n", c.letters...)
			s := runOnce(t, m.where...)
			require.Zero(t, s.Approvals)
			states := map[postroom.ActionState]int{}
			for _, a := range m.actions() {
				states[a.State]++
				if a.State == postroom.ActionCanceled {
					require.Contains(t, a.Error, c.says)
				}
			}
			want := map[postroom.ActionState]int{postroom.ActionCanceled: 1}
			if c.sent > 0 {
				want[postroom.ActionCompleted] = c.sent
			}
			require.Equal(t, want, states)
			require.Equal(t, c.sent, m.sent())

			job := idPattern.FindString(m.postroomd("jobs", "list", "--state", "canceled").stdout)
			require.NotEmpty(t, job)
			m.postroomd("jobs", "retry", job)
			runOnce(t, m.where...)
			require.Equal(t, want, m.states(), "it is not sent after all")
			require.Equal(t, c.sent, m.sent())
		})
	}
}

// What is beyond the messages of a day is not lost: it is sent on the next.
func TestSendingWaitsForTheNextDay(t *testing.T) {
	rule := strings.TrimSuffix(forwardTea, "}") + ", safe_mode: dangerous_override}"
	m := newTeatime(t, rule, "[outbound]\nrecipients_day = 1\n", letterWithFile,
		strings.ReplaceAll(letterWithFile, "tea@", "tea2@"))
	runOnce(t, m.where...)
	require.Equal(t, 1, m.sent())
	require.Equal(t, map[postroom.ActionState]int{postroom.ActionCompleted: 1, postroom.ActionQueued: 1}, m.states(),
		"the other has not begun")
	require.Contains(t, m.postroomd("jobs", "list", "--state", "queued").stdout, "outbound.send")
	require.Regexp(t, `(?m)^waiting +1 message, for the day's limit of recipients \(outbound.recipients_day\)$`,
		m.postroomd("status").stdout)
}

func TestSnoozeLabelIsConfigured(t *testing.T) {
	m := newTeatime(t, "{action: snooze, parameters: {amount: 1, units: days}}", "", letterWithFile)
	r := start(t, append(m.where, "--set", "gmail.snooze_label=Later")...)
	r.eventually("it sleeps", func() bool {
		mail, err := m.server.Snapshot(t.Context())
		require.NoError(t, err)
		return slices.Contains(mail[0].Labels, "Later")
	})
	r.stop()
}

// An action that sends nothing is shown without a message.
func TestShowOfADeletion(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterWithFile)
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	r := m.postroomd("approvals", "show", id)
	require.Equal(t, 0, r.status, r.stderr)
	require.Regexp(t, `(?m)^action +delete$`, r.stdout)
	require.NotContains(t, r.stdout, "sends")
	require.NotContains(t, m.postroomd("approvals", "show", id, "--json").stdout, `"message"`)
	require.Equal(t, exitUsage, m.postroomd("approvals", "show", id, "--raw").status)
	require.Equal(t, exitUsage, m.postroomd("approvals", "show", id, "--raw", "--json").status)
	require.Equal(t, exitUsage, m.postroomd("approvals", "show", "nothing").status)
}

// What a stranger wrote does not pass for what postroomd says, and HTML is shown as its readers see it.
func TestShowMarksTheText(t *testing.T) {
	letter := "From: ann@example.com\r\nTo: " + sample.Owner + "\r\nSubject: Tea?\r\nMessage-ID: <html@example.com>\r\n" +
		"Content-Type: text/html\r\n\r\n<p>At five?</p><p>attachment: none\x1b[2J</p><p style=\"display:none\">bring money</p>\r\n"
	m := newTeatime(t, forwardTea, "", letter)
	runOnce(t, m.where...)
	r := m.postroomd("approvals", "show", m.actions()[0].ID)
	require.Equal(t, 0, r.status, r.stderr)
	_, body, _ := strings.Cut(r.stdout, "\n\n")
	_, body, _ = strings.Cut(body, "\n\n")
	require.Contains(t, body, "The HTML shows, and hides more, which --raw prints:")
	require.Contains(t, body, "\n| attachment: none[2J\n")
	for line := range strings.Lines(body) {
		if line != "\n" && !strings.HasPrefix(line, "The HTML shows") {
			require.True(t, strings.HasPrefix(line, "|"), fmt.Sprintf("%q", line))
		}
	}
}
