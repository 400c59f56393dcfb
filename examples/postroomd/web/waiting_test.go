package web_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/tasks"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

// asking are rules of which a person is asked much.
const asking = `
rules:
  - name: Books
    priority: 1
    condition: {type: subject_regex, value: '(?i)receipt|invoice'}
    action: forward
    parameters: {to: books@example.com, body: For the books.}
  - {name: News, priority: 2, condition: {type: header_present, header: List-Unsubscribe}, action: archive}
  - {name: Lists, priority: 3, condition: {type: header_present, header: List-Id}, action: archive}
  - {name: Rest, priority: 4, condition: {type: header_present, header: From}, action: archive}
`

// newAskingWorld sorts the sample by rules that ask.
func newAskingWorld(t *testing.T) *world {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(asking), 0o600))
	return newWorldBy(t, file, "archive")
}

func (w *world) waiting(f safety.Filter) []safety.Waiting {
	w.Helper()
	f.Limit = 100
	list, err := w.Ledger.Approvals(w.Context(), f)
	require.NoError(w, err)
	return list
}

func (w *world) state(id string) postroom.ActionState {
	w.Helper()
	a, err := w.Ledger.Action(w.Context(), id)
	require.NoError(w, err)
	return a.State
}

// find returns what the pattern's group matches first.
func (r reply) find(t *testing.T, pattern string) string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(r.body)
	require.NotNil(t, found, "%s is not in %s", pattern, r.body)
	return found[1]
}

// A person goes through what waits by the keyboard alone, and sees what is answered elsewhere.
func TestRequestsAreAnsweredByKeyboard(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		list := w.waiting(safety.Filter{Rule: "News"})
		b.Open(w.url + "waiting?rule=News")
		b.Until(ready)
		b.Press("j", "x", "j", "x")
		b.Picture("waiting-ticked-" + strconv.FormatInt(width, 10))
		b.Press("a")
		b.Until(`document.querySelector(".done")?.textContent.includes("Approved: 2 of 2")`)
		b.Until(ready)
		b.Press("j", "a")
		b.Until(`document.querySelector(".done")?.textContent.includes("Approved: it is carried out")`)
		b.Until(ready)
		b.Press("j")
		browsertest.Eval[any](b, pressR)
		b.Press("n", "o", kb.Enter)
		b.Until(`document.querySelector(".done")?.textContent.includes("Rejected: 1 of 1")`)
		require.NoError(t, w.RunJobs(t.Context()))
		for i, state := range []postroom.ActionState{postroom.ActionCompleted, postroom.ActionCompleted,
			postroom.ActionCompleted, postroom.ActionRejected} {
			require.Equal(t, state, w.state(list[i].Action.ID))
			answers, err := w.Ledger.ApprovalsOf(t.Context(), list[i].Action.ID)
			require.NoError(t, err)
			require.Equal(t, access.LocalName, answers[0].Approver)
			require.Equal(t, map[bool]string{true: "no"}[state == postroom.ActionRejected], answers[0].Why)
		}
		b.Until(`!!document.querySelector("#live-toggle[data-state=Live]")`)
		row := `document.querySelector('[data-row] a[href$="` + list[4].Action.ID + `"]')`
		require.True(t, browsertest.Eval[bool](b, "!!"+row))
		require.NoError(t, w.RejectShown(t.Context(), list[4].Approval, "Ann", ""))
		b.Until("!" + row)
	}
	b.Quiet()
}

// pressR presses r as a keyboard does: what a page has handled types nothing, unlike the tests' own keys.
const pressR = `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "r", bubbles: true }))`

// What was counted is answered at once, or nothing of it; and never what sends or deletes.
func TestABatchIsAnsweredAsItWasCounted(t *testing.T) {
	w := newAskingWorld(t)
	all, news := w.waiting(safety.Filter{}), w.waiting(safety.Filter{Rule: "News"})
	require.Greater(t, len(all), len(news)+1)
	page := w.get("waiting")
	require.Contains(t, page.body, "Much alike")
	require.Contains(t, page.body, "you want to be asked about such an action")
	page = w.get("waiting?rule=News")
	digest := page.find(t, `name="digest" value="([0-9a-f]+)"`)
	answer := url.Values{"rule": {"News"}, "digest": {digest}, "do": {"approve"}, "from": {"/waiting"}}
	require.NoError(t, w.RejectShown(t.Context(), news[0].Approval, "Ann", "not this one"))
	require.Equal(t, http.StatusConflict, w.post("waiting/answer", answer).status)
	require.Len(t, w.waiting(safety.Filter{Rule: "News"}), len(news)-1)

	answer.Set("digest", w.get("waiting?rule=News").find(t, `name="digest" value="([0-9a-f]+)"`))
	to := w.post("waiting/answer", answer)
	require.Equal(t, http.StatusSeeOther, to.status)
	n := strconv.Itoa(len(news) - 1)
	require.Contains(t, w.get("waiting?done=approve-all&n="+n+"&n="+n).body, "Approved: "+n+" of "+n)
	require.Contains(t, to.header.Get("Location"), "n="+n+"&n="+n)
	require.Empty(t, w.waiting(safety.Filter{Rule: "News"}))

	books := w.waiting(safety.Filter{Rule: "Books"})
	require.NotEmpty(t, books)
	require.NotContains(t, w.get("waiting?rule=Books").body, `name="digest"`)
	shown := books[0].Approval.ID + "." + books[0].Approval.Digest[:16]
	to = w.post("waiting/answer", url.Values{"pick": {shown}, "do": {"approve"}})
	require.Contains(t, to.header.Get("Location"), "n=0&n=1")
	require.Len(t, w.waiting(safety.Filter{Rule: "Books"}), len(books))
}

// Whoever approves has seen the bytes, the recipients and the mail.
func TestARequestShowsWhatIsSent(t *testing.T) {
	w := newAskingWorld(t)
	books := w.waiting(safety.Filter{Rule: "Books"})
	path := "waiting/" + books[0].Action.ID
	old := books[0].Approval.ID + "." + books[0].Approval.Digest[:16]
	page := w.get(path)
	require.Contains(t, page.body, "To: books@example.com")
	require.Contains(t, page.body, "new: you have never written there")
	require.Contains(t, page.body, "For the books.")
	require.Contains(t, page.body, "It cannot be taken back")
	file := w.get(path + "/message.eml")
	require.Equal(t, "message/rfc822", file.header.Get("Content-Type"))
	require.Contains(t, file.header.Get("Content-Security-Policy"), "sandbox")
	sum := sha256.Sum256([]byte(file.body))
	require.Equal(t, hex.EncodeToString(sum[:]), page.find(t, `SHA-256 ([0-9a-f]+)`))

	require.Equal(t, http.StatusConflict, w.post("waiting/answer", url.Values{"approve": {old}}).status,
		"it was asked before its bytes were known")
	shown := page.find(t, `name="approve" value="([^"]+)"`)
	require.Equal(t, http.StatusSeeOther, w.post("waiting/answer", url.Values{"approve": {shown}}).status)
	require.Equal(t, postroom.ActionQueued, w.state(books[0].Action.ID))
	require.Equal(t, http.StatusConflict, w.post("waiting/answer", url.Values{"reject": {shown}}).status)
	require.Equal(t, http.StatusConflict, w.get(path).status, "it waits no longer")
	require.Equal(t, http.StatusNotFound, w.get("waiting/none").status)
	for _, path := range []string{"waiting?mailbox=none", "waiting?kind=explode"} {
		require.Equal(t, http.StatusConflict, w.get(path).status)
	}
}

// The labels before and after stand beside the mail.
func TestARequestShowsTheLabels(t *testing.T) {
	w := newAskingWorld(t)
	archive := w.waiting(safety.Filter{Rule: "News"})[0].Action
	v, err := view.NewWholeRequest(t.Context(), w.App, archive.ID)
	require.NoError(t, err)
	require.Contains(t, v.Change.Before, postroom.LabelInbox)
	require.NotContains(t, v.Change.After, postroom.LabelInbox)
	require.Equal(t, []string{postroom.LabelInbox}, v.Change.Removed)
	require.Contains(t, w.get("waiting/"+archive.ID).body, "Takes off INBOX.")
}

// A person who is asked to snooze sees until when, in the question and among the parameters.
func TestARequestToSnoozeShowsTheTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`
rules:
  - name: Later
    condition: {type: header_present, header: From}
    action: snooze
    parameters: {amount: 365, units: days, wake_on_reply: true}
`), 0o600))
	w := newWorldBy(t, file, "snooze")
	page := w.get("waiting/" + w.waiting(safety.Filter{Rule: "Later"})[0].Action.ID).body
	require.Contains(t, page, "May it snooze for 365 days?")
	require.Contains(t, page, "wake_on_reply")
}

// An expired request is asked again, and an altered one can only be rejected.
func TestWhatIsExpiredOrAltered(t *testing.T) {
	w := newAskingWorld(t)
	list := w.waiting(safety.Filter{Rule: "News"})
	require.NoError(t, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE actions SET type = 'trash' WHERE id = $1", list[0].Action.ID)
		return err
	}))
	page := w.get("waiting/" + list[0].Action.ID)
	require.Contains(t, page.body, "altered in the database")
	require.NotContains(t, page.body, `name="approve"`)
	shown := page.find(t, `name="reject" value="([^"]+)"`)
	require.Equal(t, http.StatusConflict, w.post("waiting/answer", url.Values{"approve": {shown}}).status)
	require.Equal(t, http.StatusSeeOther, w.post("waiting/answer", url.Values{"reject": {shown}}).status)
	require.Equal(t, postroom.ActionRejected, w.state(list[0].Action.ID))

	require.Equal(t, http.StatusSeeOther, w.post("waiting/"+list[1].Action.ID+"/renew", url.Values{}).status)
	asked, err := w.Ledger.ApprovalsOf(t.Context(), list[1].Action.ID)
	require.NoError(t, err)
	require.Len(t, asked, 2)
}

// What is asked again and again becomes a rule, or is never asked again, in two clicks; the request still waits.
func TestARequestBecomesARule(t *testing.T) {
	w := newAskingWorld(t)
	waits := w.waiting(safety.Filter{Types: []postroom.ActionType{postroom.Archive}})
	var mail *postroom.Message
	asked := slices.IndexFunc(waits, func(a safety.Waiting) bool { // they come in any order
		var err error
		mail, err = w.Mail.Message(t.Context(), a.Action.AccountID, a.Action.MessageID)
		require.NoError(t, err)
		return len(mail.Header("List-Id")) > 0
	})
	require.GreaterOrEqual(t, asked, 0)
	b := browsertest.Browse(t)
	for i, click := range []string{"always do this…", "never: leave it alone…"} {
		before := len(w.rules())
		b.Size([]int64{1280, 390}[i], 844)
		b.Open(w.url + "waiting/" + waits[asked].Action.ID)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked))
		browsertest.Eval[any](b, `[...document.querySelectorAll("#rules-like a")].find(a => a.innerText == "`+click+`").click()`)
		b.Until(`!!document.querySelector("#check .difference") && ` + ready)
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules")`)
		require.Len(t, w.rules(), before+1)
		made := slices.IndexFunc(w.rules(), func(r rules.Rule) bool {
			return r.Action == []postroom.ActionType{postroom.Archive, postroom.None}[i] && strings.Contains(r.Name, " mail of ")
		})
		require.GreaterOrEqual(t, made, 0)
		require.Equal(t, rules.ListID, w.rules()[made].Condition.Type)
		require.Contains(t, mail.Header("List-Id")[0], "<"+w.rules()[made].Condition.Value+">")
		decides := slices.IndexFunc(w.rules(), func(r rules.Rule) bool {
			return r.ID == waits[asked].Decision.Decision.RuleID
		})
		require.Less(t, made, decides, "it is tried before the rule that asks")
		require.Equal(t, postroom.ActionPendingApproval, w.state(waits[asked].Action.ID))
	}
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.Approve})
	require.NotContains(t, seer.get("waiting/"+waits[asked].Action.ID).body, "always do this")
	b.Quiet()
}

// What is to be done stands beside what waits, until a person says that it is done.
func TestATaskIsClosed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`rules: [{name: Lists, condition: {type: header_present, header: List-Id},
		action: create_task, parameters: {title: "Read <b>it</b>", due: "2026-12-01T15:00:00Z"}}]`), 0o600))
	w := newWorldBy(t, file)
	b := browsertest.Browse(t)
	open := func() int {
		list, err := w.Tasks.List(t.Context(), tasks.Filter{OpenOnly: true})
		require.NoError(t, err)
		return len(list)
	}
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		before := open()
		require.Positive(t, before)
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "waiting")
		require.Equal(t, "Read <b>it</b>", browsertest.Eval[string](b, `document.querySelector("#tasks li a").textContent`))
		b.Picture("waiting-tasks-" + strconv.FormatInt(width, 10))
		browsertest.Eval[any](b, `document.querySelector("#tasks li button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("The task is done")`)
		require.Equal(t, before-1, open())
	}
	list, err := w.Tasks.List(t.Context(), tasks.Filter{})
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(list, func(task tasks.Task) bool { return task.ClosedBy == access.LocalName }))
	b.Quiet()
}
