package gemini_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/gemini"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newClient(t testing.TB, s llmtest.Settings) llm.Client {
	t.Helper()
	client, err := gemini.New(gemini.Config{
		Model: "fake", Key: s.Key, BaseURL: s.URL, Timeout: s.Timeout, MaxAnswerBytes: s.MaxAnswerBytes, HTTPClient: llmtest.HTTPClient(t),
	})
	require.NoError(t, err)
	return client
}

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, llmtest.Provider{
		Wire: llmtest.GenerateContent,
		Full: "gemini::fake",
		Env: []string{
			"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GEMINI_BASE_URL",
		},
		New: newClient,
	})
}

func TestNewNamesTheField(t *testing.T) {
	_, err := gemini.New(gemini.Config{Key: "x"})
	require.ErrorContains(t, err, "Config.Model is empty")
	_, err = gemini.New(gemini.Config{Model: "x"})
	require.ErrorContains(t, err, "Config.Key is empty")
}

// Gemini does not name all calls; the caller needs names, and Gemini must not see ours.
func TestCallsWithoutIDsGetTheirOwn(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.GenerateContent,
		llmtest.Reply{ToolCalls: []llm.ToolCall{{Name: "a", Arguments: `{}`}, {Name: "b", Arguments: `{}`}}}, llmtest.Reply{Text: "done"})
	client := newClient(t, llmtest.Settings{URL: server.URL, Key: "x"})
	messages := []llm.Message{{Role: llm.RoleUser, Text: "Go."}}
	resp, err := client.Complete(t.Context(), &llm.Request{Messages: messages})
	require.NoError(t, err)
	require.NotEqual(t, resp.ToolCalls[0].ID, resp.ToolCalls[1].ID)
	messages = append(messages, resp.Message(), llm.Message{Role: llm.RoleTool, ToolCallID: resp.ToolCalls[0].ID, Text: "1"},
		llm.Message{Role: llm.RoleTool, ToolCallID: resp.ToolCalls[1].ID, Text: "2"})
	_, err = client.Complete(t.Context(), &llm.Request{Messages: messages})
	require.NoError(t, err)
	asked, err := server.Asked(server.Seen()[1])
	require.NoError(t, err)
	require.Equal(t, []llm.ToolCall{{Name: "a", Arguments: `{}`}, {Name: "b", Arguments: `{}`}}, asked.Messages[1].ToolCalls)
}
