package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// newModelWorld is a world with a model that stars mail about tea, and is not sure about the others.
func newModelWorld(t *testing.T, database string) *world {
	t.Helper()
	model := llmtest.NewServer(t, llmtest.ChatCompletions, decides("star", 0.9), decides("none", 0.5))
	return newWorldWith(t, database, func(c *config.Config) {
		c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
	}, mail("ann@example.com", "tea"), mail("bob@example.org", "lunch"))
}

func decides(action string, confidence float64) llmtest.Reply {
	return llmtest.Reply{ToolCalls: []llm.ToolCall{{ID: "call_1", Name: decide.RecordDecision,
		Arguments: llmtest.Decision(action, "{}", confidence)}}}
}

func eachModel(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) { fn(t, newModelWorld(t, "")) })
	t.Run("postgres", func(t *testing.T) { fn(t, newModelWorld(t, dbtest.MigratedDSN(t))) })
}

// Each call of a model is listed with the mail it was for, by pages, and shown with its answer.
func TestCallsOfModelsAreOnRecord(t *testing.T) {
	eachModel(t, func(t *testing.T, w *world) {
		list := call[calls.Page](w, "GET", "/models/calls", "", http.StatusOK).List
		require.Len(t, list, 2)
		require.Equal(t, list, call[calls.Page](w, "GET", "/models/calls?model="+list[0].Model, "", http.StatusOK).List)
		for _, c := range list {
			require.Equal(t, "decide", c.Purpose)
			require.Equal(t, llm.Answered, c.Outcome)
			require.Equal(t, sample.Owner, c.Mailbox)
			require.Empty(t, c.Answer, "that is for one call")
			found := w.search("subject:" + c.Subject).Messages
			require.Equal(t, c.Message, found[0].ID)
		}
		older := call[calls.Page](w, "GET", "/models/calls?before="+list[0].ID, "", http.StatusOK)
		require.Equal(t, list[1:], older.List)
		require.Empty(t, older.Next)
		require.Empty(t, call[calls.Page](w, "GET", "/models/calls?model=openai::large", "", http.StatusOK).List)
		require.Contains(t, call[calls.Call](w, "GET", "/models/calls/"+list[0].ID, "", http.StatusOK).Answer,
			decide.RecordDecision)
		call[problem](w, "GET", "/models/calls/none", "", http.StatusNotFound)

		secret, err := tokens.New(w.app.DB).Add(t.Context(), tokens.Token{Name: "own", Scope: tokens.See,
			Mailboxes: []string{sample.Owner}})
		require.NoError(t, err)
		w.as = secret
		require.Len(t, call[calls.Page](w, "GET", "/models/calls", "", http.StatusOK).List, 2)
		call[calls.Call](w, "GET", "/models/calls/"+list[0].ID, "", http.StatusOK)
		call[problem](w, "GET", "/models/calls?mailbox=other@example.org", "", http.StatusNotFound)

		require.NoError(t, w.app.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "UPDATE llm_calls SET account_id = '' WHERE id = $1", list[0].ID)
			return err
		}))
		call[problem](w, "GET", "/models/calls/"+list[0].ID, "", http.StatusNotFound)
		w.as = token
		call[calls.Call](w, "GET", "/models/calls/"+list[0].ID, "", http.StatusOK)
	})
}
