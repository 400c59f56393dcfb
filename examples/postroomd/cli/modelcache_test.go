package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// The database keeps what Redis does not: nothing, or all while it is away.
func TestAnswersAreKeptInRedis(t *testing.T) {
	for name, c := range map[string]struct {
		url string
		in  int // the database
	}{"there": {os.Getenv("POSTROOM_TEST_REDIS"), 0}, "away": {"redis://:hunter2@127.0.0.1:1/0", 1}} {
		t.Run(name, func(t *testing.T) {
			if c.url == "" && os.Getenv("CI") == "" {
				t.Skip("POSTROOM_TEST_REDIS names no Redis server, such as redis://127.0.0.1:6379/15")
			}
			require.NotEmpty(t, c.url, "POSTROOM_TEST_REDIS names no Redis server")
			gmail := inbox(t, "archive me")
			model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, decides)
			where := append(withModel(t, gmail, model.URL, ""), "--set", "llm.cache="+secret(t, c.url))
			r := postroomd(t, append([]string{"run", "--once"}, where...)...)
			require.Equal(t, 0, r.status, r.stderr)
			require.Equal(t, c.in == 1, strings.Contains(r.stderr, "the cache of answers cannot be written"), r.stderr)
			require.NotContains(t, r.stderr, "hunter2")
			require.Len(t, model.Seen(), 1)
			var kept int
			h := (&teatime{T: t, where: where}).open()
			require.NoError(t, dbquery.Get(t.Context(), h.DB.Reader(), &kept, "SELECT COUNT(*) FROM llm_answers"))
			require.Equal(t, c.in, kept)
		})
	}
	r := postroomd(t, "config", "check", "--set", "llm.cache="+secret(t, "redis://db.example.org"))
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr+r.stdout, "rediss://")
}
