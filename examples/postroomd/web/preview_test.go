package web_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A preview and a backtest find the same.
func TestAPreviewFindsWhatABacktestDoes(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	newest, err := w.Mail.NewestReceived(t.Context(), account.ID)
	require.NoError(t, err)
	total := 0
	for _, c := range []rules.Condition{
		{Type: rules.SubjectContains, Value: "e"}, {Type: rules.BodyContains, Value: "the"},
		{Type: rules.LabelPresent, Value: "inbox"},
		{Type: rules.SenderEmail, Value: strings.ToUpper(w.sender(account.ID))}, {Type: rules.HasUnsubscribe},
		rules.NoneOf(rules.Condition{Type: rules.SenderSeen}), {Type: rules.OlderThan, Value: "1d"},
	} {
		rule := rules.NewRule("Tried", c, postroom.Star, nil)
		text := string(rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{rule}}))
		report, err := w.Backtest(t.Context(), app.Trial{Account: account, Text: text, Since: newest.Add(-app.PreviewSince)})
		require.NoError(t, err)
		var found app.RulePreview
		for state, err := range w.PreviewRule(t.Context(), account, rule) {
			require.NoError(t, err)
			found = state
		}
		require.True(t, found.Ended)
		require.Equal(t, report.Rules[0].Matched, found.Found, c.String())
		require.Len(t, found.Hits, min(found.Found, app.PreviewHits))
		for i := range found.Hits[min(1, len(found.Hits)):] {
			require.False(t, found.Hits[i+1].Message.ReceivedAt.After(found.Hits[i].Message.ReceivedAt), "newest first")
		}
		total += found.Found
	}
	require.Greater(t, total, 50, "most find something")
}

// sender is the address that has written last.
func (w *world) sender(accountID string) string {
	w.Helper()
	newest, err := w.Mail.NewestReceived(w.Context(), accountID)
	require.NoError(w, err)
	senders, err := w.Mail.TopSenders(w.Context(), accountID, newest.Add(-30*24*time.Hour), 1)
	require.NoError(w, err)
	return senders[0].Sender
}

// A hit names the rules that have it by now.
func TestAPreviewNamesTheOtherRules(t *testing.T) {
	w := newWorld(t)
	all := "&count=on" // however slow the machine is
	page := w.get(previewOf(rules.SubjectContains, "e") + all)
	require.Equal(t, http.StatusOK, page.status)
	require.Regexp(t, `rule that decides about it now: <strong>Travel</strong>`, page.body)
	require.Regexp(t, `<strong>\d+</strong> of \d+ messages? of the newest mail, that of 90 days, match`, page.body)
	require.Contains(t, page.body, `value="e"`, "the form keeps what was typed")

	known := w.get(previewOf(rules.SubjectContains, "e") + "&known=1&name=Travel").body
	require.NotContains(t, known, `now: <strong>Travel</strong>`, "a rule is none of the others")
	for value, said := range map[string]string{"": "Nothing can be looked for", "no such": "<strong>0</strong> of"} {
		require.Contains(t, w.get(previewOf(rules.SubjectContains, value)+all).body, said)
	}
	require.Equal(t, http.StatusConflict, w.get("rules/preview?tree=%7B").status)
	part := w.get(previewOf(rules.SubjectContains, "e") + "&part=1").body
	require.NotContains(t, part, "<html")
	require.True(t, strings.HasSuffix(part, "\x00"))
}

// Who may only look sees what a rule would find, in their own mailbox alone, and saves nothing.
func TestWhoMayOnlyLookMayPreview(t *testing.T) {
	w := newWorld(t)
	w.withNeighbour()
	seer := w.as(access.Person{Name: "bob@example.org", Role: access.See, Mailboxes: []string{sample.Owner}})
	path := previewOf(rules.SubjectContains, "e")
	page := seer.get(path + "&do=add+0")
	require.Equal(t, http.StatusConflict, page.status, "there is nothing to add to")
	page = seer.get(path + "&do=any+0")
	require.Contains(t, page.body, `name="value 0.0"`)
	require.NotContains(t, page.body, `method="post" action="../rules`)
	require.Contains(t, seer.get("rules").body, "rules/preview")
	for _, mailbox := range []string{"", "&mailbox=" + neighbour} {
		ann := w.as(access.Person{Name: "ann@example.org", Role: access.See, Mailboxes: []string{neighbour}})
		other := ann.get(path + mailbox)
		require.Equal(t, http.StatusOK, other.status)
		require.Contains(t, other.body, "<strong>0</strong>")
	}
}

// One types a condition, and sees what it finds, and what another finds, before anything is saved.
func TestARuleIsPreviewedAsOneTypes(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/form?mailbox=" + url.QueryEscape(sample.Owner))
		b.Until(ready + ` && document.getElementById("preview").textContent.includes("Nothing can be looked for")`)
		browsertest.Eval[any](b, `document.querySelector("[name='type 0.0']").value = "subject_contains"`)
		browsertest.Eval[any](b, `document.querySelector("[name='value 0.0']").focus()`)
		b.Press("e")
		b.Until(`document.querySelectorAll("#preview .hits li").length === 20`)
		if width == 1280 { // it looks at all of them
			fits(b, "rule-preview")
		}
		b.Press(" ", "n", "o", " ", "s", "u", "c", "h")
		b.Until(`document.querySelector("#preview strong").textContent === "0"`)
		require.Equal(t, "value 0.0", browsertest.Eval[string](b, "document.activeElement.name"), "one goes on typing")
	}
	b.Quiet()
}

// All scripts of the pages together stay small: they are read by whoever wants to know what runs.
func TestTheScriptsStaySmall(t *testing.T) {
	sum := int64(0)
	for _, pattern := range []string{"static/*.js", "../../../internal/webui/static/*.js"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			info, err := os.Stat(path)
			require.NoError(t, err)
			sum += info.Size()
		}
	}
	require.Less(t, sum, int64(12_000))
}
