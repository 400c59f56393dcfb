package decide_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// recordingClient returns a client whose calls are on record.
func recordingClient(t *testing.T, db queue.DB, client llm.Client) (*llm.Metered, *llm.Records) {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	records, err := llm.NewRecords(llm.RecordsConfig{DB: db})
	require.NoError(t, err)
	m, err := llm.NewMetered(llm.MeteredConfig{Client: client, Records: records, Model: "acme::small",
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return m, records
}

func failing(reason error) llmtest.Turn {
	return llmtest.Fails(&llm.Error{Provider: "acme", Reason: reason})
}
