package queueui_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

// Bytes that are no text are a fault of the request, not of the database.
func TestBytesThatAreNoTextAreRefusedOnEveryEngine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		var log bytes.Buffer
		ui, err := queueui.New(q, &queueui.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		for _, bad := range []string{"%ff", "%00", "a%00b"} {
			for path, want := range map[string]int{
				"/jobs?type=": http.StatusBadRequest, "/jobs?user=": http.StatusBadRequest, "/jobs?tag=": http.StatusBadRequest,
				"/jobs?limit=": http.StatusBadRequest, "/jobs?before=": http.StatusBadRequest,
				"/jobs?error=a&before=": http.StatusBadRequest, "/flows?before=": http.StatusBadRequest,
				"/jobs/": http.StatusNotFound, "/flows/": http.StatusNotFound,
			} {
				w := httptest.NewRecorder()
				ui.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+bad, nil))
				require.Equal(t, want, w.Code, path+bad)
			}
			for path, form := range map[string]string{
				"/jobs/cancel": "state=queued&type=" + bad, "/jobs/" + bad + "/cancel": "", "/flows/" + bad + "/cancel": "",
				"/flows/" + bad + "/retry": "", "/pause": "kind=type&name=" + bad, "/pause?": "kind=schedule&name=" + bad,
				"/limit": "kind=key&max=1&name=" + bad, "/limit?": "kind=key&name=" + bad, "/fire": "name=" + bad,
			} {
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(form))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				ui.ServeHTTP(w, r)
				require.Contains(t, []int{http.StatusBadRequest, http.StatusNotFound}, w.Code, path+" "+form)
			}
		}
		require.Empty(t, log.String())
	})
}
