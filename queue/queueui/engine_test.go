package queueui_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

func TestPagesAreTheSameOnEveryEngine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		enqueued, err := q.Enqueue(t.Context(), classify.New(letter{To: "ada@example.org"},
			&queue.Options{UserID: "u", Tags: []string{"x"}}))
		require.NoError(t, err)
		d, err := queue.NewDispatcher(q, nil)
		require.NoError(t, err)
		queue.Handle(d, classify, func(_ context.Context, w *queue.Work[letter]) error {
			w.Logger().Info("classified")
			return nil
		})
		require.NoError(t, d.RunUntilIdle(t.Context()))
		ui, err := queueui.New(q, nil)
		require.NoError(t, err)
		for path, want := range map[string]string{
			"/": "1 completed, 0 failed", "/?window=24h": "1 completed, 0 failed",
			"/jobs?state=completed&type=mail.classify&user=u&tag=x": enqueued.ID,
			"/jobs/" + enqueued.ID: "classified",
		} {
			w := httptest.NewRecorder()
			ui.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			require.Equal(t, http.StatusOK, w.Code, path)
			require.Contains(t, w.Body.String(), want, path)
		}
	})
}
