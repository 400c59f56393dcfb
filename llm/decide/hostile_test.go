package decide_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// Whatever the model answers, there is a decision that keeps the contract, has its source, and can be recorded.
func TestEveryAnswerBecomesADecision(t *testing.T) {
	for i, attack := range llmtest.Attacks() {
		turn := llmtest.Turn{Response: attack}
		client := &always{turn: turn}
		d, err := newDecider(t, decide.Config{Client: client, Guidance: guide(receipts)}).Decide(t.Context(), mail("x"))
		require.NoError(t, err, "attack %d", i)
		require.NoError(t, d.Validate(nil, time.Now()), "attack %d", i)
		require.Equal(t, postroom.SourceModel, d.Source)
		require.Less(t, len(d.Rationale)+len(d.Explanations.SalientFeatures), 70_000, "attack %d", i)
		require.LessOrEqual(t, client.longest, 200_000, "attack %d: what was too long does not go back", i)
	}
}

// always gives one answer and notes the longest request.
type always struct {
	turn llmtest.Turn

	mu      sync.Mutex
	longest int
}

func (a *always) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	length := 0
	for _, m := range req.Messages {
		length += len(m.Text)
		for _, c := range m.ToolCalls {
			length += len(c.Arguments)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.longest = max(a.longest, length)
	return a.turn.Response, a.turn.Err
}

func TestAFailureThatTheMessageCausesIsADecision(t *testing.T) {
	for _, reason := range []error{llm.ErrRefused, llm.ErrContextTooLong, llm.ErrAnswerTooLong} {
		failure := &llm.Error{Provider: "acme", Model: "small", Reason: reason, Err: errors.New("no")}
		d, err := newDecider(t, decide.Config{Client: llmtest.NewScripted(t, llmtest.Fails(failure))}).Decide(
			t.Context(), mail("x"))
		require.NoError(t, err)
		require.NoError(t, d.Validate(nil, time.Now()))
		require.Equal(t, postroom.None, d.Action)
		require.False(t, d.NeedsApproval)
		require.Equal(t, postroom.SourceModel, d.Source)
		require.Contains(t, d.Rationale, reason.Error())
	}
}

func TestAnAnswerThatIsTooLongIsAskedForAgain(t *testing.T) {
	long := llmtest.Calls(decide.RecordDecision, llmtest.Decision("archive", `{"x":"`+strings.Repeat("x", 70_000)+`"}`, 1))
	cut := llmtest.Decides("archive", "{}", 1)
	cut.Response.Stop = llm.StopLength
	client := llmtest.NewScripted(t, long, cut, llmtest.Decides("archive", "{}", 1))
	d, err := newDecider(t, decide.Config{Client: client}).Decide(t.Context(), mail("x"))
	require.NoError(t, err)
	require.Equal(t, postroom.Archive, d.Action)
	asked := client.Requests()
	require.Contains(t, asked[1].Messages[3].Text, "65536 are allowed")
	last := asked[2].Messages
	require.Contains(t, last[len(last)-1].Text, "write less")
}
