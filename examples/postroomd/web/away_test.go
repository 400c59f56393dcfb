package web_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
)

// The page shows whom an absence would have answered before it is switched on, says that it is on, and ends it by one
// click.
func TestAnAbsenceOnThePage(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	at := "mailboxes/" + account.ID
	require.Contains(t, w.get("mailboxes").body, at+"/away")
	lastDay := time.Now().AddDate(0, 0, 1).Format(time.DateOnly) // whatever the time is
	form := url.Values{"until": {lastDay}, "text": {"Away until {{until}}, <b>all</b>."}, "audience": {"known"}}
	shown := w.get(at + "/away?" + form.Encode()).body
	require.Contains(t, shown, "In the last 14 days it would have answered ")
	require.Contains(t, shown, "Away until "+lastDay+", &lt;b&gt;all&lt;/b&gt;.")
	require.NotContains(t, w.get("mailboxes").body, "away until ", "nothing is switched on by looking")
	wrong := url.Values{"until": {lastDay}, "text": {"Dear {{name}}"}}
	require.Contains(t, w.get(at+"/away?"+wrong.Encode()).body,
		"{{name}} is no variable; the variables are {{sender_name}}")
	require.Equal(t, http.StatusConflict, w.post(at+"/away", wrong).status)

	w.post(at+"/away", form)
	line := "away until " + lastDay + ", answered 0 senders"
	require.Contains(t, w.get("mailboxes").body, line)
	require.Contains(t, w.get("").body, line)
	require.Contains(t, w.get("").body, at+"/back")
	w.post(at+"/back", nil)
	require.NotContains(t, w.get("mailboxes").body, "away until ")
}

// The form of an absence, and whom it would have answered, can be read and used by all.
func TestTheFormOfAnAbsenceFitsAndIsReadable(t *testing.T) {
	w := newWorld(t)
	account, err := w.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mailboxes")
		browsertest.Eval[any](b, `document.querySelector("[href$='/away']").click()`)
		b.Until(`document.querySelector("h1")?.textContent.startsWith("Away: ") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "away")
		}
		lastDay := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
		browsertest.Eval[any](b, `(() => { const f = document.querySelector("main form").elements; f.until.value = "`+lastDay+
			`"; f.text.value = "I am away until {{until}}."; document.querySelector("main form:last-of-type button").click(); })()`)
		b.Until(`document.querySelector("#preview")?.textContent.includes("I am away until ` + lastDay + `.") && ` + ready)
		if width == 1280 { // it looks at all of them
			fits(b, "away-preview")
		}
		browsertest.Eval[any](b, `document.querySelector("#preview button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("while you are away")`)
		if width == 1280 { // it looks at all of them
			fits(b, "mailboxes-away")
		}
		b.Open(w.url)
		browsertest.Eval[any](b, `document.querySelector("[action$='`+account.ID+`/back'] button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("not answered any more")`)
	}
	b.Quiet()
}
