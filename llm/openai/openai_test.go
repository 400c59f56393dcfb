package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, llmtest.Provider{
		Wire: llmtest.ChatCompletions,
		Full: "openai::fake",
		Env: []string{
			"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID",
			"OPENAI_CUSTOM_HEADERS",
		},
		New: func(t testing.TB, s llmtest.Settings) llm.Client {
			client, err := openai.New(openai.Config{
				Model: "fake", Key: s.Key, BaseURL: s.URL, Provider: "openai", Timeout: s.Timeout, MaxAnswerBytes: s.MaxAnswerBytes,
				HTTPClient: llmtest.HTTPClient(t),
			})
			require.NoError(t, err)
			return client
		},
	})
}

func TestNewNamesTheField(t *testing.T) {
	for name, cfg := range map[string]openai.Config{
		"Config.Model is empty":      {Key: "x"},
		"Config.Key is empty":        {Model: "x"},
		"Config.BaseURL is not":      {Model: "x", Key: "x", BaseURL: "localhost:11434"},
		"without user and query":     {Model: "x", Key: "x", BaseURL: "https://user:secret@example.com/v1"},
		"Timeout, MaxOutputTokens a": {Model: "x", Key: "x", MaxOutputTokens: -1},
	} {
		_, err := openai.New(cfg)
		require.ErrorContains(t, err, name)
		require.NotContains(t, err.Error(), "secret")
	}
}

func TestAServerOfOnesOwnNeedsNoKey(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.ChatCompletions, llmtest.Reply{Text: "Hello."})
	client, err := openai.New(openai.Config{Model: "llama", BaseURL: server.URL, HTTPClient: llmtest.HTTPClient(t)})
	require.NoError(t, err)
	resp, err := client.Complete(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}})
	require.NoError(t, err)
	require.Regexp(t, `^127\.0\.0\.1:\d+::llama$`, resp.Model)
	seen := server.Seen()[0]
	require.Empty(t, seen.Header.Values("Authorization"))
	require.InDelta(t, 1024, seen.Body["max_tokens"], 0)
	require.NotContains(t, seen.Body, "max_completion_tokens")
}
