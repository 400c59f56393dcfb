package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// TestUnusableAnswersAreListed: nothing is done, nobody is asked, and what came is found with what it cost.
func TestUnusableAnswersAreListed(t *testing.T) {
	t.Parallel()
	gmail := inbox(t, "tea", "milk")
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Text: "I would rather talk about the weather.",
			Usage: llm.Usage{InputTokens: 1000, OutputTokens: 100}}
	})
	where := withModel(t, gmail, model.URL, "input_price = 1.0\noutput_price = 5.0\nkeep_answers = \"0s\"\n")
	sum := runOnce(t, where...)
	require.Zero(t, sum.Approvals)
	r := postroomd(t, append([]string{"decisions", "list", "--unusable", "--json"}, where...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var list []view.Unusable
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &list))
	require.Len(t, list, 2)
	calls := 0
	for _, v := range list {
		calls += v.Calls
		require.Contains(t, v.Answers[0], "the weather")
		require.Len(t, v.Answers, v.Calls)
		require.Positive(t, v.Cost)
		require.Equal(t, "ada@example.com", v.Sender)
		require.Contains(t, []int{2, 3}, v.Calls, "one retry for a sender who is new, two for another")
	}
	require.LessOrEqual(t, calls, 5, "at least one of them was the sender's first")
	r = postroomd(t, append([]string{"status"}, where...)...)
	require.Regexp(t, "2 messages of the last 7 days got no usable answer, and nothing was done; see 'postroomd decisions "+
		"list --unusable'", r.stdout)
	r = postroomd(t, append([]string{"decisions", "list", "--unusable"}, where...)...)
	require.Contains(t, r.stdout, "the weather")
	r = postroomd(t, append([]string{"decisions", "list", "--unusable", "--below", "0.5"}, where...)...)
	require.Equal(t, exitUsage, r.status)
}
