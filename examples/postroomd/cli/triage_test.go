package cli

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// automatic are signs of mail that nobody answers.
var automatic = []string{"List-Id: <l.example.com>", "List-Unsubscribe: <https://example.com/u>", "Precedence: bulk",
	"Auto-Submitted: auto-generated", "Auto-Submitted: auto-replied", "X-Autoreply: yes",
	"Content-Type: multipart/report; report-type=delivery-status; boundary=b",
	"Content-Type: text/calendar; method=REQUEST",
	"From: no-reply@example.com", "Reply-To: noreply@example.com"}

// A letter that asks something has one draft; of fifty automatic mails that ask the same none has, and none costs a
// call more. Mail of before the mailbox was added is sorted here, and not asked about either.
func TestDaemonWritesADraftForMailThatNeedsAnAnswer(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "an old question")
	var decided, asked, wrote atomic.Int64
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(a llmtest.Asked) llmtest.Reply {
		if strings.Contains(fmt.Sprint(a.Messages), "TASK\nWrite the answer") {
			wrote.Add(1)
			return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: compose.WriteAnswer,
				Arguments: `{"person_writes":false,"text":"Gladly."}`}}}
		}
		decided.Add(1)
		if strings.Contains(a.Messages[1].Text, "needs_response") {
			asked.Add(1)
		}
		reply := decides(a)
		call := &reply.ToolCalls[0]
		call.Arguments = strings.TrimSuffix(call.Arguments, "}") + `,"reply":"needs_response"}`
		return reply
	})
	where := append(withModel(t, gmail, model.URL, "reuse = \"0s\"\n[replies]\nenabled = true\ntriage = true\n"),
		"--set", "schedules.history_sync=1s")
	d := start(t, where...)
	d.ready()
	d.eventually("the old mail is stored", func() bool { return idle(t, gmail, where...) })
	for i := range 50 {
		sign := automatic[i%len(automatic)]
		from := fmt.Sprintf("From: Ada <ada%d@example.com>\r\n", i)
		if strings.HasPrefix(sign, "From:") {
			from = ""
		}
		_, err := gmail.Deliver(t.Context(), []byte(fmt.Sprintf("%sTo: Me <me@example.com>\r\nSubject: Machine %d\r\n"+
			"Message-ID: <m%d@example.com>\r\n%s\r\n\r\nCan you come at five?\r\n", from, i, i, sign)))
		require.NoError(t, err)
	}
	sendTo(t, gmail, "tea", "Ada <ada@example.com>", "Can you come at five?")
	d.eventually("all mail is decided about", func() bool { return idle(t, gmail, where...) })
	service, err := gmail.Service(t.Context())
	require.NoError(t, err)
	d.eventually("a draft lies ready", func() bool {
		drafts, err := service.Users.Drafts.List("me").Do()
		require.NoError(t, err)
		return len(drafts.Drafts) > 0
	})
	d.eventually("nothing is left to do", func() bool { return idle(t, gmail, where...) })
	d.stop()
	drafts, err := service.Users.Drafts.List("me").Do()
	require.NoError(t, err)
	require.Len(t, drafts.Drafts, 1)
	require.Equal(t, []int64{1 + 50 + 1, 1, 1}, []int64{decided.Load(), asked.Load(), wrote.Load()})
}
