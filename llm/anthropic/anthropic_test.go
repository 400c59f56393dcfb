package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/anthropic"
	"github.com/postroom-go/postroom/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, llmtest.Provider{
		Wire: llmtest.Messages,
		Full: "anthropic::fake",
		Env: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS",
		},
		New: func(t testing.TB, s llmtest.Settings) llm.Client {
			client, err := anthropic.New(anthropic.Config{
				Model: "fake", Key: s.Key, BaseURL: s.URL, Timeout: s.Timeout, MaxAnswerBytes: s.MaxAnswerBytes,
				HTTPClient: llmtest.HTTPClient(t),
			})
			require.NoError(t, err)
			return client
		},
	})
}

func TestNewNamesTheField(t *testing.T) {
	_, err := anthropic.New(anthropic.Config{Key: "x"})
	require.ErrorContains(t, err, "Config.Model is empty")
	_, err = anthropic.New(anthropic.Config{Model: "x"})
	require.ErrorContains(t, err, "Config.Key is empty")
}

// A proxy began the message twice, and ended its lines in CR.
func TestAMessageThatBeginsTwice(t *testing.T) {
	const begin = `event: message_start
data: {"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":3}}}

`
	const block = `event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"tell","input":{}}}

`
	piece := func(text string) string {
		return "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" +
			"{\"type\":\"input_json_delta\",\"partial_json\":" + strconv.Quote(text) + "}}\n\n"
	}
	const end = `event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}

event: message_stop
data: {"type":"message_stop"}

`
	for name, stream := range map[string]string{
		"at once":    begin + begin + block + piece(`{"to":`) + piece(`"Ann"}`) + end,
		"in between": begin + block + piece(`{"to":`) + begin + block + piece(`{"to":`) + piece(`"Ann"}`) + end,
		"CR alone":   strings.ReplaceAll(begin+block+piece(`{"to":"Ann"}`)+end, "\n", "\r"),
		"CR LF":      strings.ReplaceAll(begin+block+piece(`{"to":"Ann"}`)+end, "\n", "\r\n"),
		"LF":         begin + block + piece(`{"to":"Ann"}`) + end,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, stream)
			}))
			defer server.Close()
			client, err := anthropic.New(anthropic.Config{Model: "fake", Key: "x", BaseURL: server.URL,
				HTTPClient: llmtest.HTTPClient(t)})
			require.NoError(t, err)
			resp, err := client.Complete(t.Context(), &llm.Request{
				Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}},
				Stream:   func(llm.Chunk) error { return nil },
			})
			require.NoError(t, err)
			require.Len(t, resp.ToolCalls, 1)
			require.Equal(t, `{"to":"Ann"}`, resp.ToolCalls[0].Arguments)
		})
	}
}

// The SDK on its own wants a stream for answers this long.
func TestALongAnswerNeedsNoStream(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Messages, llmtest.Reply{Text: "Hello."})
	client, err := anthropic.New(anthropic.Config{Model: "fake", Key: "x", BaseURL: server.URL,
		HTTPClient: llmtest.HTTPClient(t), MaxOutputTokens: 64_000})
	require.NoError(t, err)
	_, err = client.Complete(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}})
	require.NoError(t, err)
}
