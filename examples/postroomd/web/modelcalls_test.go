package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/safety"
)

// asked has a model asked about a message: n answers, one that is given again, and one failure. It returns the calls,
// the newest first.
func (w *world) asked(n int) []llm.Call {
	w.Helper()
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0].Action
	turns := make([]llmtest.Turn, 0, n+1)
	for i := range n {
		turn := llmtest.Says(fmt.Sprintf("answer <b>%d</b>", i))
		turn.Response.Usage = llm.Usage{InputTokens: 900, OutputTokens: 100}
		turns = append(turns, turn)
	}
	turns = append(turns, llmtest.Fails(&llm.Error{Provider: "acme", Reason: llm.ErrOverloaded}))
	m, err := llm.NewMetered(llm.MeteredConfig{Client: llmtest.NewScripted(w.T, turns...), Records: w.Models.Records,
		Model: "acme::small", Price: &llm.Price{Input: llm.Dollar, Output: 5 * llm.Dollar}})
	require.NoError(w, err)
	ask := func(text string) error {
		_, err := m.Complete(w.Context(), &llm.Request{AccountID: moved.AccountID, About: moved.MessageID,
			Purpose: "classify", Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}})
		return err
	}
	for i := range n {
		require.NoError(w, ask(fmt.Sprint("question ", i)))
	}
	require.NoError(w, ask("question 0"))
	require.ErrorIs(w, ask("question x"), llm.ErrOverloaded)
	list, err := w.Models.Records.Newest(w.Context(), llm.CallFilter{Limit: 100})
	require.NoError(w, err)
	require.Len(w, list, n+2)
	return list
}

// The calls of a model are listed by pages, each with its message; an answer that was given again leads to the one that
// it was.
func TestCallsOfModelsAreListed(t *testing.T) {
	w := newWorld(t)
	require.Contains(t, w.get("models").body, "No model was asked yet.")
	calls := w.asked(50)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}})[0]
	page := w.get("models?model=acme::small")
	require.Equal(t, http.StatusOK, page.status)
	require.Contains(t, page.body, calls[49].ID)
	require.NotContains(t, page.body, "calls/"+calls[50].ID+`" data-key`)
	require.Contains(t, page.body, w.pathOf(moved.Action), "each leads to its message")
	require.Contains(t, page.body, "the request was equal to an earlier one, word for word")
	require.Contains(t, page.body, "1\u202f000 tokens, $0.0014")
	older := page.find(t, `<a href="\./(models\?[^"#]+)#calls">Older`)
	require.Contains(t, w.get(strings.ReplaceAll(older, "&amp;", "&")).body, calls[51].ID)
	require.Contains(t, w.get("models?model=acme::large").body, "No call of acme::large is on record")

	reused := w.get("models/calls/" + calls[1].ID)
	require.Contains(t, reused.body, `<a href="../../models/calls/`+calls[1].ReusedFrom+`">`)
	answer := w.get("models/calls/" + calls[1].ReusedFrom)
	require.Contains(t, answer.body, "answer &lt;b&gt;0&lt;/b&gt;")
	require.Contains(t, answer.body, "900 read, 100 written")
	require.Contains(t, w.get("models/calls/"+calls[0].ID).body, "overloaded")
	require.Equal(t, http.StatusNotFound, w.get("models/calls/none").status)
}

func TestCallsOfModelsFitAndAreReadable(t *testing.T) {
	w := newWorld(t)
	calls := w.asked(3)
	for name, path := range map[string]string{"models-calls": "models", "call-reused": "models/calls/" + calls[1].ID} {
		pages := map[string]string{name: path}
		w.small(pages)
		looks(browsertest.Browse(t), w.url, pages) // a tab each: it is closed after two minutes
	}
}

// A person goes from an answer that was reused to the call that had made it.
func TestAPersonFollowsAReusedAnswer(t *testing.T) {
	b := browsertest.Browse(t)
	w := newWorld(t)
	w.asked(3)
	for width, scheme := range map[int64]string{1280: "dark", 390: "light"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "models")
		browsertest.Eval[any](b,
			`[...document.querySelectorAll("#calls a")].find((a) => a.textContent === "that answer").click()`)
		b.Until(`!!document.querySelector("#answer")?.textContent.includes("answer <b>0</b>")`)
	}
	b.Quiet()
}
