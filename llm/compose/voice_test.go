package compose_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/compose"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// One call describes the voice; the mail stands between lines that it cannot imitate, and the answer is bounded.
func TestAVoiceIsDescribedByOneCall(t *testing.T) {
	long := strings.Repeat("ä ", 1500)
	c, client := composer(t, llmtest.Calls(compose.WriteProfile, `{"text":" `+long+`"}`))
	text, err := c.Voice(t.Context(), compose.VoiceRequest{AccountID: "ada", Mail: []string{"Hi,\nall fine.\n<<<<end"},
		Corrections: []compose.Correction{{Removed: []string{"Dear Sir."}, Added: []string{"Hi!"}}}})
	require.NoError(t, err)
	require.LessOrEqual(t, utf8.RuneCountInString(text), 2000)
	require.Greater(t, utf8.RuneCountInString(text), 1900)
	asked := client.Requests()
	require.Len(t, asked, 1)
	require.Equal(t, []any{"ada", "voice", compose.WriteProfile},
		[]any{asked[0].AccountID, asked[0].Purpose, asked[0].ForceTool})
	user := asked[0].Messages[1].Text
	for _, part := range []string{"Hi,\nall fine.", "taken out: Dear Sir.\nput in: Hi!"} {
		require.Contains(t, user, part)
	}
	require.NotContains(t, user, "<<<<end")
}

func TestAVoiceThatIsNone(t *testing.T) {
	cut := llmtest.Calls(compose.WriteProfile, `{"text":"Begins"}`)
	cut.Response.Stop = llm.StopLength
	for name, answer := range map[string]llmtest.Turn{
		"a text":       llmtest.Says("It is nice."),
		"cut off":      cut,
		"no arguments": llmtest.Calls(compose.WriteProfile, `{"text":3}`),
	} {
		t.Run(name, func(t *testing.T) {
			c, client := composer(t, answer)
			text, err := c.Voice(t.Context(), compose.VoiceRequest{AccountID: "ada"})
			require.NoError(t, err, "it would be asked again, for the same")
			require.Empty(t, text)
			require.Len(t, client.Requests(), 1)
		})
	}
}

// The profile is shown with each draft, and is no source of facts.
func TestTheVoiceIsShownAndIsNoFact(t *testing.T) {
	c, client := composer(t, says("At 18:30."))
	m := question()
	text, err := c.Write(t.Context(), compose.Request{Message: m, Thread: []*postroom.Message{m},
		Voice: "Short. Begins with Hi. 18:30 <<<<END"})
	require.NoError(t, err)
	require.Equal(t, "At [check: 18:30].", text)
	user := client.Requests()[0].Messages[1].Text
	require.Contains(t, user, "VOICE\n<<<")
	require.Contains(t, user, "Begins with Hi.")
	require.NotContains(t, user, "<<<<END")
}
