package web_test

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm/guidance"
)

// A person tells the models something, forbids them more, switches it off and removes it, from the page alone.
func TestInstructionsAreWrittenOnThePage(t *testing.T) {
	w := newWorld(t)
	before, err := w.Models.Guidance.Instructions(t.Context())
	require.NoError(t, err)
	added := func() []guidance.Instruction {
		list, err := w.Models.Guidance.Instructions(t.Context())
		require.NoError(t, err)
		return list[len(before):]
	}
	b := browsertest.Browse(t)
	last := `document.querySelector("#instructions ol > li:last-child `
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "models")
		browsertest.Eval[any](b, `(() => { const f = document.querySelector("#add");
			f.text.value = "Keep what <b>the club</b> writes."; f.scope.value = "domain"; f.of.value = "Club.example";
			f.querySelector("[value=archive]").checked = true;
			f.querySelector("button").click(); })()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("are told")`)
		one := added()[0]
		require.Equal(t, "Keep what <b>the club</b> writes.", one.Text)
		require.Equal(t, []postroom.ActionType{postroom.Archive}, one.Forbids)
		require.Equal(t, "club.example", one.ScopeRef)
		require.True(t, one.Enabled)
		browsertest.Eval[any](b, `document.querySelector("#instructions ol > li:last-child details").open = true`)
		if width == 1280 { // it looks at all of them
			fits(b, "instructions")
		}
		browsertest.Eval[any](b, last+`[value=trash]").checked = true; `+last+`details .primary").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("is changed")`)
		require.Equal(t, []postroom.ActionType{postroom.Archive, postroom.Trash}, added()[0].Forbids)
		browsertest.Eval[any](b, last+`[formaction$=disable]").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("do not see it")`)
		require.False(t, added()[0].Enabled)
		browsertest.Eval[any](b, last+`[formaction$=remove]").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("is removed")`)
		require.Empty(t, added())
	}
	b.Quiet()

	require.Equal(t, http.StatusSeeOther, w.post("models/instructions", url.Values{"text": {"Be brief."},
		"scope": {"mailbox"}, "of": {sample.Owner}}).status)
	one := added()[0]
	require.Equal(t, guidance.ScopeMailbox, one.Scope)
	change := "models/instructions/" + one.ID + "/change"
	require.Equal(t, http.StatusConflict, w.post(change, url.Values{"text": {"x"}}).status)
	form := url.Values{"text": {"x"}, "revision": {strconv.FormatInt(one.Revision, 10)}}
	require.Equal(t, http.StatusSeeOther, w.post(change, form).status)
	require.Equal(t, http.StatusConflict, w.post(change, form).status, "somebody has changed it since")
	require.Equal(t, http.StatusUnprocessableEntity, w.post("models/instructions", url.Values{"text": {"x"},
		"scope": {"mailbox"}, "of": {"no@where.example"}}).status)
	require.Equal(t, http.StatusUnprocessableEntity, w.post("models/instructions", url.Values{"scope": {"all"}}).status)
	fault := w.post("models/instructions", url.Values{"text": {"Keep <it>."}, "scope": {"domain"}, "of": {"a b"},
		"forbid": {"star"}})
	require.Equal(t, http.StatusUnprocessableEntity, fault.status)
	require.Contains(t, fault.body, "give a domain")
	require.Contains(t, fault.body, "Keep &lt;it&gt;.</textarea>", "what was typed is kept")
	require.Contains(t, fault.body, `value="star" checked`)
	require.Len(t, added(), 1)
}
