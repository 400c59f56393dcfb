package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// proposes asks which mail is meant when it is told of mail, and else proposes to star letters. It leaves mail as it
// is.
func proposes(asked llmtest.Asked) llmtest.Reply {
	if !slices.Contains(asked.Tools, "propose_rules") {
		return decides(asked)
	}
	last := asked.Messages[len(asked.Messages)-1].Text
	if strings.Contains(last, "mail") {
		return llmtest.Reply{Text: "Which mail do you mean?"}
	}
	rule := `{"summary": "Letters get a star and a label.", "rules": "labels: [Letters]\nrules: [{name: Letters, condition: {type: subject_contains, value: letter}, actions: [{action: star}, {action: apply_label, parameters: {label: Letters}}]}]"}`
	return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "propose_rules", Arguments: rule}}}
}

// A person says what they want, answers what the model asks, sees what it would have done, accepts it, and goes back.
func TestRulesAreWrittenInAChat(t *testing.T) {
	gmail := inbox(t, "a letter", "receipt one", "another letter")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, proposes)
	where := withModel(t, gmail, model.URL, "")
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, []byte("# Mine.\n"+modelRules), 0o600))
	where = append(where, "--set", "paths.rules="+path)
	runOnce(t, where...)
	before := len(model.Seen())
	chat := func(args ...string) result {
		return postroomd(t, append(append([]string{"rules", "chat"}, args...), where...)...)
	}

	r := chat("say", "Do something with mail.", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	var said view.ChatReply
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &said), r.stdout)
	require.Equal(t, "Which mail do you mean?", said.Text)
	require.Empty(t, said.File)
	r = chat("accept", said.Session, "2")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "there is no proposal to accept")

	r = chat("say", "--session", said.Session[:13], "Letters.")
	require.Equal(t, 0, r.status, r.stderr)
	for _, text := range []string{"  | Letters get a star and a label.", "+   - name: Letters",
		"Of 3 messages, 2 would have been decided about differently.",
		"2: star, apply_label Letters instead of nothing", "Nothing is changed yet", "rules chat accept " +
			said.Session + " 4"} {
		require.Contains(t, r.stdout, text)
	}
	require.NotContains(t, fmt.Sprint(model.Seen()[before:]), "a letter", "the model sees no mail")
	untouched, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# Mine.\n"+modelRules, string(untouched))

	r = chat("accept", said.Session, "4")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, path+" is written\n1 rule is added, 0 changed, 0 removed")
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(written), "# Mine.\n"), string(written))
	require.Contains(t, string(written), "name: Letters")
	require.Equal(t, exitUsage, chat("accept", said.Session, "4").status, "it is accepted once")
	history := postroomd(t, append([]string{"rules", "history"}, where...)...)
	require.Contains(t, history.stdout, "proposed in session")

	sendTo(t, gmail, "a third letter", "Ada <ada@example.com>", "Hello.")
	runOnce(t, where...)
	require.Equal(t, "Letters", decidedActions(t, where)["a third letter"].Rule)

	shown := chat("show", said.Session)
	require.Equal(t, 0, shown.status, shown.stderr)
	require.Contains(t, shown.stdout, "accepted by "+app.CurrentUser())
	require.Contains(t, chat("list").stdout, "Do something with mail.")
	require.Equal(t, 0, postroomd(t, append([]string{"rules", "restore", "1"}, where...)...).status)
	back, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "# Mine.\n"+modelRules, string(back))
}

func TestAChatRefuses(t *testing.T) {
	gmail := inbox(t, "a letter")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, proposes)
	where := withModel(t, gmail, model.URL, "")
	runOnce(t, where...)
	chat := func(args ...string) result {
		return postroomd(t, append(append([]string{"rules", "chat"}, args...), where...)...)
	}

	before := len(model.Seen())
	r := postroomd(t, "rules", "chat", "say", "x", "--config", configure(t, gmail, ""), "--data", where[len(where)-1])
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "no model is configured")
	r = chat("say", " ")
	require.Equal(t, exitUsage, r.status, r.stderr)
	for _, args := range [][]string{{"show", "none"}, {"accept", "", "2"}, {"say", "x", "--session", "none"},
		{"list", "--limit", "0"}, {"say", "x", "--since", "soon"}, {"say", "x", "--mailbox", "no@where.example"}} {
		r := chat(args...)
		require.Equal(t, exitUsage, r.status, "%v %s", args, r.stderr)
	}
	require.Len(t, model.Seen(), before)

	r = chat("say", "Letters.", "--json", "--since", "0")
	require.Equal(t, 0, r.status, r.stderr)
	var said view.ChatReply
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &said), r.stdout)
	require.Nil(t, said.Tried)
	rulesFile := filepath.Join(t.TempDir(), "other.yaml")
	require.NoError(t, os.WriteFile(rulesFile, []byte(modelRules+"# by hand\n"), 0o600))
	r = postroomd(t, append(append([]string{"rules", "chat", "accept", said.Session, "2"}, where...), "--set",
		"paths.rules="+rulesFile)...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "have changed since")
}
