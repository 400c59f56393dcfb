package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
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
	list := func(flags ...string) []drafts.Draft {
		var v drafts.Page
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

	require.Regexp(t, `tea at five +drafted +`, said("mail", "list"))
	require.Contains(t, said("explain", tea), "answer        drafted")

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

	supper := ids["supper at eight"]
	r := ask("drafts", "send", supper)
	require.Equal(t, exitUsage, r.status, "nobody can be asked")
	require.Contains(t, r.stdout, "| Gladly.")
	require.Contains(t, said("drafts", "send", supper, "--yes"), "Sent.")
	r = ask("drafts", "send", supper, "--yes")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "it is sent")
	require.Contains(t, said("audit", "export"), `"draft_send"`)
	require.Empty(t, list())
	require.Regexp(t, `(?m)tea at five .*discarded by `, said("drafts", "list", "--all"))
	r = ask("drafts", "discard", short)
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

// What somebody has changed since a person has printed it is not overwritten.
func TestAVoiceIsEditedOfTheVersionThatWasPrinted(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
	where := withModel(t, inbox(t, "tea"), model.URL, "[replies]\nenabled = true\nvoice = true\n")
	ask := func(args ...string) result {
		return postroomd(t, append(append([]string{"drafts", "voice"}, args...), where...)...)
	}
	file := filepath.Join(t.TempDir(), "voice.txt")
	edit := func(text string) result {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return ask("edit", file)
	}
	require.Equal(t, 0, postroomd(t, append([]string{"run", "--once"}, where...)...).status)
	require.Equal(t, result{0, "# version 0\n\n", ""}, ask("show", "--text"))
	require.Contains(t, edit("I say Moin.").stderr, `must be "# version N"`)
	require.Equal(t, result{0, "Saved.\n", ""}, edit("# version 0\r\n# I say Moin.\r\n"))
	require.Equal(t, result{0, "# version 1\n# I say Moin.\n", ""}, ask("show", "--text"))
	require.Contains(t, ask("show").stdout, "version")
	late := edit("# version 0\nI say Hello.")
	require.NotZero(t, late.status)
	require.Contains(t, late.stderr, "the text has version 1 by now, and yours is made of version 0: print it anew")
	require.Contains(t, ask("rebuild").stderr, "has edited the profile")
	require.Contains(t, ask("rebuild", "--replace", "2").stderr, "has changed since it was shown")
	require.Equal(t, result{0, "# version 1\n# I say Moin.\n", ""}, ask("show", "--text"))
	require.Equal(t, 0, ask("rebuild", "--replace", "1").status)
}
