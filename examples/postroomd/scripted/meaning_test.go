package scripted

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/mime"
)

func asked(text string) *llm.Request {
	return &llm.Request{ForceTool: decide.RecordFacts, Purpose: "enrich",
		Messages: []llm.Message{{Role: llm.RoleSystem, Text: "You read mail."}, {Role: llm.RoleUser, Text: text}},
		Tools:    []llm.Tool{{Name: decide.RecordFacts, Schema: json.RawMessage(`{"properties": {"category": {}}}`)}}}
}

// Each answer is about a message of the sample: none is left over after a change of the sample.
func TestEachAnswerIsOfAMessageOfTheSample(t *testing.T) {
	left := map[string]bool{}
	for key := range meanings {
		left[key] = true
	}
	for m, err := range sample.WithSchool(time.Now()).Messages() {
		require.NoError(t, err)
		read, err := mime.ParseBytes(m.Raw, nil)
		if err != nil || len(read.From) == 0 {
			continue // some are broken
		}
		from := postroom.Address{Name: read.From[0].Name, Email: read.From[0].Email}
		delete(left, from.String()+": "+read.Subject)
	}
	require.Empty(t, left)
}

// Only what is asked is answered, about the message in the prompt and no text below it; other mail is refused.
func TestTheScriptAnswersWhatIsAsked(t *testing.T) {
	text := "From: Nadia Okoro <nadia@okoro.example>\nSubject: The time capsule\n\nFrom: x\nSubject: y\n"
	answer, err := Model{}.Complete(t.Context(), asked(text))
	require.NoError(t, err)
	require.JSONEq(t, `{"category": {"name": "personal", "confidence": 0.95,
		"reasoning": "A friend writes about a plan of many years."}}`, answer.ToolCalls[0].Arguments)
	_, err = Model{}.Complete(t.Context(), asked("From: Somebody <s@example.com>\nSubject: Hello\n\nHow are you?"))
	require.ErrorIs(t, err, llm.ErrRefused)
	refusal, ok := errors.AsType[*llm.Error](err)
	require.True(t, ok)
	require.Equal(t, llm.Fatal, refusal.Class(), "it is not asked again and again")
}
