package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// A label is put on in Gmail, and a draft lies ready; it is sent there, and the label goes.
func TestDaemonWritesADraftForALabel(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "tea at five")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		if strings.Contains(fmt.Sprint(asked.Messages), "TASK\nWrite the answer") {
			return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteAnswer,
				Arguments: `{"person_writes":false,"text":"Gladly."}`}}}
		}
		return decides(asked)
	})
	where := append(withModel(t, gmail, model.URL, "[replies]\nenabled = true\nneeds_response_label = \"Answer\"\n"),
		"--set", "schedules.history_sync=1s")
	d := start(t, where...)
	d.ready()
	d.eventually("the mailbox is sorted", func() bool { return idle(t, gmail, where...) })
	service, err := gmail.Service(t.Context())
	require.NoError(t, err)
	list, err := service.Users.Messages.List("me").Q("in:inbox").Do()
	require.NoError(t, err)
	id := list.Messages[0].Id
	labels := func() []string {
		all, err := gmail.Snapshot(t.Context())
		require.NoError(t, err)
		for _, m := range all {
			if m.ID == id {
				return m.Labels
			}
		}
		return nil
	}
	require.NoError(t, gmail.Person().Label(t.Context(), "Answer", id))
	d.eventually("a draft lies ready", func() bool { return strings.Contains(fmt.Sprint(labels()), "Postroom/Outbox") })
	require.NotContains(t, labels(), "Answer")
	drafts, err := service.Users.Drafts.List("me").Do()
	require.NoError(t, err)
	require.Len(t, drafts.Drafts, 1)
	draft, err := service.Users.Drafts.Get("me", drafts.Drafts[0].Id).Do()
	require.NoError(t, err)
	require.Contains(t, draft.Message.Snippet, "Gladly.")

	d.eventually("the draft is stored", func() bool { return idle(t, gmail, where...) })
	_, err = service.Users.Drafts.Send("me", &api.Draft{Id: draft.Id}).Do()
	require.NoError(t, err)
	d.eventually("the label is taken off", func() bool { return !strings.Contains(fmt.Sprint(labels()), "Postroom/Outbox") })
	d.stop()
}
