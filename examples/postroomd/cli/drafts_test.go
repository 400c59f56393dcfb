package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// writes answers a mail with "Gladly.", and an instruction with itself.
func writes(asked llmtest.Asked) llmtest.Reply {
	text := "Gladly."
	switch all := fmt.Sprint(asked.Messages); {
	case strings.Contains(all, "with cake"):
		text = "Gladly, with cake."
	case !strings.Contains(all, "TASK\nWrite the answer"):
		return decides(asked)
	}
	return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteAnswer,
		Arguments: fmt.Sprintf(`{"person_writes":false,"text":%q}`, text)}}}
}

// A person lists what lies ready, reads it, has it written again by a sentence, and discards it.
func TestDraftsAreListedReworkedAndDiscarded(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "tea at five", "supper at eight")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, writes)
	where := append(withModel(t, gmail, model.URL, "[replies]\nenabled = true\n"), "--set", "schedules.history_sync=1s")
	ask := func(args ...string) result { return postroomd(t, append(args, where...)...) }
	said := func(args ...string) string {
		t.Helper()
		r := ask(args...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	d := start(t, where...)
	d.ready()
	settled := func() { d.eventually("it is idle", func() bool { return idle(t, gmail, where...) }) }
	settled()
	require.Equal(t, "no drafts\n", said("drafts", "list"))
	service, err := gmail.Service(t.Context())
	require.NoError(t, err)
	messages, err := service.Users.Messages.List("me").Q("in:inbox").Do()
	require.NoError(t, err)
	for _, m := range messages.Messages {
		require.NoError(t, gmail.Person().Label(t.Context(), "Postroom/Needs Response", m.Id))
	}
	list := func(flags ...string) []view.Draft {
		var v view.Drafts
		require.NoError(t, json.Unmarshal([]byte(said(append([]string{"drafts", "list", "--json"}, flags...)...)), &v))
		return v.List
	}
	drafted := func() (n int) {
		for _, draft := range list() {
			if draft.State == replies.Drafted {
				n++
			}
		}
		return n
	}
	d.eventually("the drafts lie ready", func() bool { return drafted() == 2 })
	settled()
	ready := list()
	ids := map[string]string{ready[0].Subject: ready[0].ID, ready[1].Subject: ready[1].ID}
	tea := ids["tea at five"]
	require.NotEmpty(t, tea)
	require.Regexp(t, tea+` +drafted +.*tea at five`, said("drafts", "list"))
	short := tea[len(tea)-8:]
	shown := said("drafts", "show", short)
	for _, text := range []string{"| Gladly.", "Hello, this is about tea", "asked: pending", "drafted: drafted",
		"at Gmail: as written last"} {
		require.Contains(t, shown, text)
	}

	require.Contains(t, said("drafts", "rework", short, "with cake"), "It is being written again")
	d.eventually("it is written again", func() bool { return list()[0].Reworks == 1 && list()[0].ID == tea })
	settled()
	shown = said("drafts", "show", short)
	for _, text := range []string{"| Gladly, with cake.", "instruction   with cake", "rework: rework requested (by "} {
		require.Contains(t, shown, text)
	}

	require.Equal(t, "Discarded, and deleted at Gmail.\n", said("drafts", "discard", short))
	at, err := service.Users.Drafts.List("me").Do()
	require.NoError(t, err)
	require.Len(t, at.Drafts, 1)
	require.Len(t, list(), 1)
	require.Regexp(t, `(?m)tea at five .*discarded by `, said("drafts", "list", "--all"))
	r := ask("drafts", "discard", short)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "this draft is skipped")
	require.Equal(t, exitUsage, ask("drafts", "rework", short, "again").status)
	r = ask("drafts", "show", "abcdef0123")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "'postroomd drafts list --all' lists them")
	require.Contains(t, said("audit", "export"), `"draft_discarded"`)
	settled()
	d.stop()
}
