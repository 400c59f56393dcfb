package anthropic_test

import (
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
				Model: "fake", Key: s.Key, BaseURL: s.URL, Timeout: s.Timeout, MaxAnswerBytes: s.MaxAnswerBytes, HTTPClient: llmtest.HTTPClient(t),
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

// The SDK on its own wants a stream for answers this long.
func TestALongAnswerNeedsNoStream(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Messages, llmtest.Reply{Text: "Hello."})
	client, err := anthropic.New(anthropic.Config{Model: "fake", Key: "x", BaseURL: server.URL, HTTPClient: llmtest.HTTPClient(t), MaxOutputTokens: 64_000})
	require.NoError(t, err)
	_, err = client.Complete(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}})
	require.NoError(t, err)
}
