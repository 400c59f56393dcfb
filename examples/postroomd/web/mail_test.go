package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/safety"
)

// pathOf is the page of the message of an action.
func (w *world) pathOf(a postroom.Action) string {
	w.Helper()
	account, err := w.Mail.Account(w.Context(), a.AccountID)
	require.NoError(w, err)
	m, err := w.Mail.Message(w.Context(), a.AccountID, a.MessageID)
	require.NoError(w, err)
	return "mail/" + account.Email + "/" + m.ProviderID
}

// A person searches for a message, sees why it is where it is, and takes that back.
func TestAMessageIsFoundAndExplained(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})
	at := 0
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		a := moved[at]
		at++
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "mail")
		b.Until(ready)
		browsertest.Eval[any](b, `document.querySelector("[type=search]").value = ""`)
		b.TabTo("[type=search]")
		b.Press("from:"+a.Decision.Sender, kb.Enter)
		b.Until(`location.search.includes("q=from") && ` + ready)
		link := `document.querySelector('a[href$="` + w.pathOf(a.Action) + `"]')`
		require.True(t, browsertest.Eval[bool](b, "!!"+link), "%s", browsertest.Eval[string](b, "document.body.innerText"))
		browsertest.Eval[any](b, link+".click()")
		b.Until(`!!document.querySelector("#history") && ` + ready)
		story := browsertest.Eval[string](b, `document.querySelector("#history").innerText`)
		require.Contains(t, story, "Decided by rule "+a.Decision.Decision.RuleName)
		require.Contains(t, story, "Moved to")
		b.Press("j", "u")
		b.Until(`!!document.querySelector(".done")`)
		require.NoError(t, w.RunJobs(t.Context()))
		b.Open(w.url + w.pathOf(a.Action))
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#history").innerText`), "Took back: move to")
		b.Until(ready)
		b.Press("e")
		b.Until(`document.querySelector("h1").textContent === "What the rules say now"`)
	}
	b.Quiet()
}

// What comes from mail is text, also where it is an attack.
func TestMailIsOnlyText(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	const attack = `<script>alert(1)</script><img src=x onerror=alert(2)>"'`
	raw := "From: \"" + `<b>Eve</b>` + "\" <eve@example.org>\r\nTo: you@example.com\r\nSubject: " + attack +
		"\r\nMessage-ID: <attack@example.org>\r\nContent-Type: text/html\r\n\r\n" +
		`<p onclick="alert(3)">Hello</p><img src="https://evil.example/pixel.png"><script>alert(4)</script>` + "\r\n"
	sent, err := w.Server.Deliver(t.Context(), []byte(raw))
	require.NoError(t, err)
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	faults, err := w.RunUntilIdle(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	require.Empty(t, faults)
	for _, path := range []string{"mail?q=from:eve@example.org", "mail/" + accounts[0].Email + "/" + sent.ID,
		"mail?q=" + url.QueryEscape(attack), "actions?sender=eve@example.org"} {
		require.Equal(t, http.StatusOK, w.get(path).status)
		b.Open(w.url + path)
		require.Zero(t, browsertest.Eval[int](b,
			`document.querySelectorAll("main script, main img, main b, [onclick]").length`))
	}
	b.Quiet() // nothing was even tried, and refused
	require.Equal(t, http.StatusNotFound, w.get("mail/"+accounts[0].Email+"/none").status)
	require.Equal(t, http.StatusNotFound, w.get("mail/none@example.org/1").status)
	require.Equal(t, http.StatusConflict, w.get("mail?cursor=none").status)
}

// A list of mail has 50, and goes on by a cursor.
func TestMailIsListedByPages(t *testing.T) {
	w := newWorld(t)
	page := w.get("mail?spam=1")
	older := page.find(t, `<a href="\./(mail\?cursor=[^"]+)">Older`)
	require.Equal(t, http.StatusOK, w.get(replaceAmp(older)).status)
	require.Contains(t, w.get(replaceAmp(older)).body, "The newest")
	require.Contains(t, w.get("mail?q=label:none").body, "There is no label none here")
	require.Contains(t, w.get("mail?q=label:none").body, "Nothing matches")
}

// From what was done last, two clicks lead to the mail and why it is where it is.
func TestWhatWasDoneLeadsToTheMail(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url)
		did := browsertest.Eval[string](b, `document.querySelector("#last a.did").textContent`)
		browsertest.Eval[any](b, `document.querySelector("#last a.did").click()`)
		b.Until(`document.querySelector("h1")?.textContent === ` + strconv.Quote(did) + ` && ` + ready)
		browsertest.Eval[any](b, `document.querySelector("#mail").click()`)
		b.Until(`document.querySelector("#history h2")?.textContent === "Why it is where it is"`)
	}
	b.Quiet()
}

// Each word of a search is completed: with what is often sought, each operator, and the labels and senders that there
// are.
func TestEachWordOfASearchIsCompleted(t *testing.T) {
	w := newWorld(t)
	page := w.get("mail").body
	for _, o := range gmailquery.Operators() {
		require.Contains(t, page, `<option value="`+o.Name+`:">`)
	}
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	labels, err := w.Mail.Labels(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	own := slices.IndexFunc(labels, func(l postroom.Label) bool { return strings.ContainsAny(l.Name, " /") })
	require.GreaterOrEqual(t, own, 0)
	label := "label:" + strings.NewReplacer(" ", "-", "/", "-").Replace(labels[own].Name)
	require.Contains(t, page, `<option value="`+label+`">`)
	require.NotContains(t, w.get("mail?q="+url.QueryEscape(label)).body, "There is no label")

	b := browsertest.Browse(t)
	b.Open(w.url + "mail")
	b.Until(ready)
	browsertest.Eval[any](b, `document.querySelector("#m-q").focus()`)
	b.Press(strings.Split("is:unread fr", "")...)
	words := browsertest.Eval[[]string](b, `[...document.querySelector("#m-q").list.options].map((o) => o.value)`)
	require.Contains(t, words, "is:unread from:")
	require.Contains(t, words, "is:unread "+label)
	require.True(t, slices.ContainsFunc(words, func(s string) bool {
		return strings.HasPrefix(s, "is:unread from:") && strings.Contains(s, "@")
	}))
	b.Press("o", "m", ":", " ", "x")
	require.Contains(t, browsertest.Eval[[]string](b, `[...document.querySelector("#m-q").list.options].map((o) => o.value)`),
		"is:unread from: has:attachment", "the next word")
	b.Quiet()
}
