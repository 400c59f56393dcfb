package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// waitingFor lists what waits for a person.
func waitingFor(t *testing.T, where []string) (list []view.Approval) {
	t.Helper()
	r := postroomd(t, append([]string{"approvals", "list", "--json"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list), r.stdout)
	return list
}

// A model is asked again by the command line, and asked indeed: an answer that is kept is no new one.
func TestTheModelIsAskedAgainByCommands(t *testing.T) {
	gmail := inbox(t, "delete me", "hello")
	star := false
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		text := asked.Messages[len(asked.Messages)-1].Text
		if star || strings.Contains(text, "The person's reason: it is my sister's") {
			return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
				Arguments: llmtest.Decision("star", "{}", 0.95)}}}
		}
		return decides(asked)
	})
	where := withModel(t, gmail, model.URL, "")
	runOnce(t, where...)
	require.Equal(t, 2, len(model.Seen()))
	waits := waitingFor(t, where)
	require.Len(t, waits, 1)

	r := postroomd(t, append([]string{"approvals", "reject", waits[0].ID, "--ask-again", "--why", "it is my sister's"},
		where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "Rejected. The model is asked once more")
	r = postroomd(t, append([]string{"approvals", "reject", waits[0].ID, "--ask-again"}, where...)...)
	require.Equal(t, exitUsage, r.status, r.stderr)
	require.Contains(t, r.stderr, "does not wait for approval")
	runOnce(t, where...)
	require.Equal(t, 3, len(model.Seen()))
	require.Empty(t, waitingFor(t, where))
	require.Equal(t, []string{"delete me: delete rejected", "delete me: star completed", "hello: none completed"},
		everyAction(t, where))

	star = true
	hello := mailJSON(t, append(where, "subject:hello")...).Messages[0].ID
	r = postroomd(t, append([]string{"mail", "decide", hello}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "'postroomd explain "+hello+"' has what it says")
	runOnce(t, where...)
	require.Equal(t, 4, len(model.Seen()), "it is asked anew")
	require.Contains(t, everyAction(t, where), "hello: star completed")
}

// everyAction lists all actions, by subject.
func everyAction(t *testing.T, where []string) (list []string) {
	t.Helper()
	r := postroomd(t, append([]string{"actions", "--json", "--limit", "100"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var found []struct {
		Action  postroom.ActionType
		State   postroom.ActionState
		Subject string
	}
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &found), r.stdout)
	for _, a := range found {
		list = append(list, a.Subject+": "+string(a.Action)+" "+string(a.State))
	}
	slices.Sort(list)
	return list
}
