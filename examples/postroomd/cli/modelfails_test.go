package cli

import (
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// Of the calls to a model 30 % fail, in all ways that pass. Each message is decided about, and the model is asked no
// more about one that it has decided.
func TestNoMailIsLostWhileAModelFails(t *testing.T) {
	t.Parallel()
	const mails = 40
	subjects := make([]string, mails)
	for i := range subjects {
		subjects[i] = fmt.Sprintf("archive number %d", i)
	}
	gmail := inbox(t, subjects...)
	faults := []llmtest.Reply{
		{Status: http.StatusInternalServerError, Message: "it broke"},
		{Status: http.StatusTooManyRequests, Message: "slow down", Header: http.Header{"Retry-After": {"1"}}},
		{Status: http.StatusServiceUnavailable, Message: "overloaded"},
		{Status: http.StatusOK, Body: `{"id": "x", "choices": [`},
	}
	subject := regexp.MustCompile(`Subject: (archive number \d+)`)
	var (
		mu       sync.Mutex
		calls    int
		failed   int
		answered = map[string]int{}
	)
	model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls*3/10 > failed {
			failed++
			return faults[failed%len(faults)]
		}
		answered[subject.FindStringSubmatch(asked.Messages[1].Text)[1]]++
		return decides(asked)
	})
	where := withModel(t, gmail, model.URL,
		"requests_per_minute = 100000\ntokens_per_minute = 100000000\n[policy]\nmodel_free = 1000\nmodel_share = 1.0\n")
	sum := runOnce(t, where...)
	require.Zero(t, sum.Undecided)
	require.GreaterOrEqual(t, failed, mails*3/10)
	require.Len(t, answered, mails)
	for subject, times := range answered {
		require.Equal(t, 1, times, subject)
	}
	actions := decidedActions(t, where)
	require.Len(t, actions, mails)
	for subject, a := range actions {
		require.Equal(t, postroom.ActionCompleted, a.State, subject)
	}
}
