package web_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// A letter that is typed is a letter: no key of the page does anything in an input, whatever kind it is.
func TestKeysDoNothingInInputs(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	const letters = "Sjkxarue/?gw"
	request := "waiting/" + w.waiting(safety.Filter{Rule: "News"})[0].Action.ID
	waiting := len(w.waiting(safety.Filter{}))
	for path, inputs := range map[string][]string{
		"mail": {"#m-q"}, "actions": {"#f-sender", "#f-rule"}, "rules/edit": {"#text"}, request: {"#why"},
	} {
		b.Open(w.url + path)
		b.Until(ready)
		for _, input := range inputs {
			browsertest.Eval[any](b, `(() => { const e = document.querySelector("`+input+`"); e.value = ""; e.focus(); })()`)
			b.Press(strings.Split(letters, "")...)
			require.Equal(t, letters, browsertest.Eval[string](b, `document.activeElement.value`), "%s of %s", input, path)
			require.False(t, browsertest.Eval[bool](b, `document.querySelector("#keys").open`), path)
		}
		require.Equal(t, w.url+path, browsertest.Eval[string](b, "location.href"))
	}
	s, err := w.Ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.Nil(t, s)
	require.Len(t, w.waiting(safety.Filter{}), waiting)
	b.Quiet()
}

// What cannot be taken back takes two keys, and no key does what another says: r rejects or does nothing, and a key
// that is held acts once.
func TestKeysDoNothingByAccident(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	books, news := w.waiting(safety.Filter{Rule: "Books"}), w.waiting(safety.Filter{Rule: "News"})
	for i, width := range []int64{1280, 390} {
		b.Size(width, 844)
		b.Open(w.url + "waiting?rule=Books")
		b.Until(ready)
		rejected := browsertest.Eval[string](b, `document.querySelector("[data-row] .open").href.split("/").pop()`)
		b.Press("j")
		browsertest.Eval[any](b, pressR)
		b.Until(`document.activeElement.id === "why" && location.pathname.endsWith("` + rejected + `") && ` + ready)
		b.Press("a", " ", "S")
		b.Press(kb.Enter)
		b.Until(said("Rejected"))
		require.Equal(t, postroom.ActionRejected, w.state(rejected))
		answers, err := w.Ledger.ApprovalsOf(t.Context(), rejected)
		require.NoError(t, err)
		require.Equal(t, "a S", answers[0].Why)

		at := slices.IndexFunc(books, func(a safety.Waiting) bool {
			return w.state(a.Action.ID) == postroom.ActionPendingApproval &&
				strings.Contains(w.get("waiting/"+a.Action.ID).body, `name="approve"`)
		})
		require.GreaterOrEqual(t, at, 0)
		sends := books[at]
		b.Open(w.url + "waiting/" + sends.Action.ID)
		b.Until(ready)
		b.Press("a")
		require.Equal(t, "approve", browsertest.Eval[string](b, `document.activeElement.name`))
		require.Equal(t, postroom.ActionPendingApproval, w.state(sends.Action.ID))
		b.Press(kb.Enter)
		b.Until(said("Approved"))

		b.Open(w.url + "waiting/" + news[i].Action.ID)
		b.Until(ready)
		browsertest.Eval[any](b, `document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", repeat: true, bubbles: true }))`)
		b.Open(w.url + "mail/act?mailbox=" + url.QueryEscape(sample.Owner) + "&q=in%3Ainbox&kind=star")
		b.Until(ready + ` && !!document.querySelector("[data-key=a]")`)
		browsertest.Eval[any](b, pressR)
		b.Open(w.url + "actions?kind=star")
		require.Zero(t, browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`), "r does no more than a")
		require.Equal(t, postroom.ActionPendingApproval, w.state(news[i].Action.ID))
	}
	b.Quiet()
}

// said is true once the page says what was just done.
func said(text string) string {
	return `!!document.querySelector(".done")?.textContent.includes("` + text + `")`
}
