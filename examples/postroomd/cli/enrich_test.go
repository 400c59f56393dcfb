package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// meant is what the model says of mail: it is not sure of the category.
const meant = `{"category": {"name": "work", "confidence": 0.6, "reasoning": "Perhaps."},
	"importance": {"level": "high", "score": 0.9, "confidence": 0.9, "reasoning": "She waits.",
		"action_items": [{"text": "Answer Ada", "due": "2026-03-06"}]},
	"calendar": {"confidence": 0.9, "reasoning": "It says so.", "events": [{"title": "Tea", "start": "2026-03-06T17:00"}]}}`

const meaningRules = `rules:
  - {name: Today, condition: {type: priority, value: high}, action: star, stop: false}
  - {name: Work, condition: {type: topic, value: work}, action: mark_read, stop: false}
  - {name: Filed, condition: {type: subject_contains, value: filed}, action: archive}
`

// A letter about which the model decides, and one about which a rule does, cost one call each; a newsletter costs none.
// Rules decide by what is sure, and by what a person has answered.
func TestWhatMailMeansIsFoundOutAndAnswered(t *testing.T) {
	t.Parallel()
	gmail := inbox(t)
	var decided, alone atomic.Int64
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(a llmtest.Asked) llmtest.Reply {
		call := llm.ToolCall{ID: "call_1", Name: decide.RecordFacts, Arguments: meant}
		if strings.Contains(a.Messages[1].Text, decide.RecordDecision) {
			decided.Add(1)
			call.Name = decide.RecordDecision
			call.Arguments = strings.TrimSuffix(llmtest.Decision("none", "{}", 0.95), "}") + `,"enrichment":` + meant + "}"
		} else {
			alone.Add(1)
		}
		return llmtest.Reply{ToolCalls: []llm.ToolCall{call}, Usage: llm.Usage{InputTokens: 1000, OutputTokens: 100}}
	})
	rules := filepath.Join(t.TempDir(), "meaning.yaml")
	require.NoError(t, os.WriteFile(rules, []byte(meaningRules), 0o600))
	where := append(withModel(t, gmail, model.URL, "reuse = \"0s\"\n[enrich]\nenabled = true\n"),
		"--set", "paths.rules="+rules, "--set", "gmail.old_mail=sort")
	sendTo(t, gmail, "tea", "Ada <ada@example.com>", "Can you come on Friday at five?")
	sendTo(t, gmail, "filed", "Bob <bob@example.com>", "Can you come on Friday at five?")
	_, err := gmail.Deliver(t.Context(), []byte("From: News <news@shop.example>\r\nTo: "+sample.Owner+
		"\r\nSubject: filed news\r\nList-Unsubscribe: <https://shop.example/u>\r\n\r\nMuch to read.\r\n"))
	require.NoError(t, err)
	run := func() {
		t.Helper()
		r := postroomd(t, append([]string{"run", "--once"}, where...)...)
		require.Equal(t, 0, r.status, r.stderr)
	}
	run()
	require.Equal(t, []int64{1, 1}, []int64{decided.Load(), alone.Load()})

	list := func(args ...string) map[string]enrichment.View {
		t.Helper()
		r := postroomd(t, append(append([]string{"enrich", "list", "--json"}, args...), where...)...)
		require.Equal(t, 0, r.status, r.stderr)
		var found []enrichment.View
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &found))
		bySubject := map[string]enrichment.View{}
		for _, v := range found {
			bySubject[v.Subject] = v
		}
		return bySubject
	}
	all := list()
	require.Len(t, all, 3)
	require.Equal(t, "newsletters", all["filed news"].Category.Value)
	require.Equal(t, "web", all["filed news"].UnsubscribeMethod)
	require.Equal(t, "completed", all["filed news"].State)
	require.Zero(t, all["filed news"].Calls)
	for _, subject := range []string{"tea", "filed"} {
		v := all[subject]
		require.Equal(t, "pending_approval", v.State)
		require.Equal(t, []string{"category"}, v.Unsure)
		require.Equal(t, "high", v.Importance.Value)
		require.Equal(t, "Answer Ada", v.ActionItems[0].Text)
		require.Equal(t, "2026-03-06T17:00", v.Events[0].Start)
		require.Equal(t, []int{1, 1100}, []int{v.Calls, v.Tokens})
	}
	require.Len(t, list("--unsure"), 2)
	require.Len(t, list("--priority", "low"), 1)
	labels := func(subject string) string {
		t.Helper()
		r := postroomd(t, append([]string{"mail", "show", all[subject].MessageID}, where...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	require.Contains(t, labels("tea"), "STARRED")
	require.Contains(t, labels("filed"), "STARRED")
	require.Contains(t, labels("tea"), "UNREAD", "the category is not sure")
	require.NotContains(t, labels("filed news"), "STARRED")

	answer := func(status int, args ...string) string {
		t.Helper()
		r := postroomd(t, append(append([]string{"enrich", "answer", all["tea"].MessageID}, args...), where...)...)
		require.Equal(t, status, r.status, r.stderr)
		return r.stdout + r.stderr
	}
	require.Contains(t, answer(exitUsage, "category", "--value", "none"), `"none" is none of the categories`)
	require.Contains(t, answer(exitUsage, "note", "--approve"), `"note" is no stage`)
	answer(0, "category", "--approve")
	run()
	require.NotContains(t, labels("tea"), "UNREAD")
	require.Len(t, list("--unsure"), 1)
	r := postroomd(t, append([]string{"enrich", "show", all["tea"].MessageID}, where...)...)
	require.Contains(t, r.stdout, "work (1.00, by person: ")
	require.Contains(t, r.stdout, "Answer Ada, until 2026-03-06")
	r = postroomd(t, append([]string{"explain", all["tea"].MessageID}, where...)...)
	require.Contains(t, r.stdout, "What it means")
	require.Contains(t, r.stdout, "work (1.00, by person: ")
	require.Contains(t, postroomd(t, append([]string{"enrich", "list"}, where...)...).stdout, "work?")
	require.Equal(t, []int64{1, 1}, []int64{decided.Load(), alone.Load()}, "nothing is asked twice")
}

// A label with the name of a category says that mail is of it, whether a person or a rule puts it there, and no model
// is asked about that.
func TestALabelWithTheNameOfACategorySaysIt(t *testing.T) {
	t.Parallel()
	gmail := inbox(t)
	rules := filepath.Join(t.TempDir(), "named.yaml")
	require.NoError(t, os.WriteFile(rules, []byte("rules:\n  - {name: Shop, condition: {type: subject_contains, value: filed}, "+
		"action: apply_label, parameters: {label: Mine/Receipts}}\n"), 0o600))
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Text: "no"}
	})
	where := append(withModel(t, gmail, model.URL, "reuse = \"0s\"\n[enrich]\nenabled = true\nmodel = false\n"),
		"--set", "paths.rules="+rules, "--set", "gmail.old_mail=sort")
	sendTo(t, gmail, "filed", "Bob <bob@example.com>", "Here you are.")
	sendTo(t, gmail, "tea", "Ada <ada@example.com>", "Here you are.")
	r := postroomd(t, append([]string{"run", "--once"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	r = postroomd(t, append([]string{"enrich", "list", "--json"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var found []enrichment.View
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &found))
	for _, v := range found {
		switch v.Subject {
		case "filed":
			require.Equal(t, "receipts", v.Category.Value)
			require.Equal(t, "the rule Shop gives it the label of this name", v.Category.Reasoning)
		case "tea":
			require.NotEqual(t, "receipts", v.Category.Value)
		}
	}
	require.Len(t, found, 2)
}
