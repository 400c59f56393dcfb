package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
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
		Model: "fake", Key: s.Key, BaseURL: s.URL, Timeout: s.Timeout, MaxAnswerBytes: s.MaxAnswerBytes,
		HTTPClient: llmtest.HTTPClient(t),
	})
	require.NoError(t, err)
	return client
}

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, llmtest.Provider{
		Wire: llmtest.GenerateContent,
		Full: "gemini::fake",
		Env: []string{
			"GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION",
			"GOOGLE_GEMINI_BASE_URL",
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

// The arguments of a call arrive in pieces.
func TestACallInPieces(t *testing.T) {
	piece := func(call string) string {
		return `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":` + call + `}]}}]}` + "\n\n"
	}
	const end = `data: {"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}]}` + "\n\n"
	first := piece(`{"name":"tell","willContinue":true}`)
	place := func(path, value, more string) string {
		return piece(`{"partialArgs":[{"jsonPath":"` + path + `",` + value + `}],"willContinue":` + more + `}`)
	}
	answered := func(stream string) (*llm.Response, []llm.Chunk, error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, stream)
		}))
		defer server.Close()
		var chunks []llm.Chunk
		resp, err := newClient(t, llmtest.Settings{URL: server.URL, Key: "x"}).Complete(t.Context(), &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Text: "Go."}},
			Stream: func(c llm.Chunk) error {
				chunks = append(chunks, c)
				return nil
			},
		})
		return resp, chunks, err
	}
	resp, chunks, err := answered(first + place("$.to.name", `"stringValue":"A"`, "true") +
		place("$.to.name", `"stringValue":"nn"`, "true") + place("$.list[1]['x y']", `"numberValue":2`, "true") +
		place("$.sure", `"boolValue":false`, "true") + place("$.none", `"nullValue":"NULL_VALUE"`, "true") + piece(`{}`) +
		piece(`{"name":"tell","args":{"to":"Bob"}}`) + end)
	require.NoError(t, err)
	require.Len(t, resp.ToolCalls, 2)
	require.JSONEq(t, `{"to":{"name":"Ann"},"list":[null,{"x y":2}],"sure":false,"none":null}`,
		resp.ToolCalls[0].Arguments)
	require.JSONEq(t, `{"to":"Bob"}`, resp.ToolCalls[1].Arguments)
	require.Len(t, chunks, 2)
	for name, stream := range map[string]string{
		"a call without its end": first + place("$.to", `"stringValue":"A"`, "true") + end,
		"no place":               first + place("$", `"stringValue":"A"`, "false") + end,
		"a place too far":        first + place("$.a[1000000000]", `"stringValue":"A"`, "false") + end,
		"a place within a text": first + place("$.a", `"stringValue":"A"`, "true") +
			place("$.a.b", `"stringValue":"A"`, "false") + end,
	} {
		_, _, err := answered(stream)
		require.ErrorIs(t, err, llm.ErrUnavailable, name)
	}
}

// Gemini does not name all calls; the caller needs names, and Gemini must not see ours.
func TestCallsWithoutIDsGetTheirOwn(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.GenerateContent,
		llmtest.Reply{ToolCalls: []llm.ToolCall{{Name: "a", Arguments: `{}`}, {Name: "b", Arguments: `{}`}}},
		llmtest.Reply{Text: "done"})
	client := newClient(t, llmtest.Settings{URL: server.URL, Key: "x"})
	messages := []llm.Message{{Role: llm.RoleUser, Text: "Go."}}
	resp, err := client.Complete(t.Context(), &llm.Request{Messages: messages})
	require.NoError(t, err)
	require.NotEqual(t, resp.ToolCalls[0].ID, resp.ToolCalls[1].ID)
	messages = append(messages, resp.Message(),
		llm.Message{Role: llm.RoleTool, ToolCallID: resp.ToolCalls[0].ID, Text: "1"},
		llm.Message{Role: llm.RoleTool, ToolCallID: resp.ToolCalls[1].ID, Text: "2"})
	_, err = client.Complete(t.Context(), &llm.Request{Messages: messages})
	require.NoError(t, err)
	asked, err := server.Asked(server.Seen()[1])
	require.NoError(t, err)
	require.Equal(t, []llm.ToolCall{{Name: "a", Arguments: `{}`}, {Name: "b", Arguments: `{}`}},
		asked.Messages[1].ToolCalls)
}
