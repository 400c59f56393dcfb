package web_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Tabs ask for all pages at once, with their streams, while somebody stops and resumes: each gets what it gets alone.
// It shows the race detector what a browser does, which does not run under it.
func TestPagesAreAskedForAtOnce(t *testing.T) {
	w := newWorld(t)
	paths := w.routePaths()
	alone := make(map[string]int, len(paths))
	for _, path := range paths {
		alone[path] = w.get(path).status
	}
	ctx, closeTabs := context.WithCancel(t.Context())
	defer closeTabs()
	var streams, tabs sync.WaitGroup
	for _, page := range []string{"/", "/waiting", "/actions"} {
		streams.Go(func() {
			_, err := w.ask(ctx, "events?page="+page)
			assert.ErrorIs(t, err, context.Canceled, "the stream lasts as long as its tab")
		})
	}
	const tabsOpen = 4
	for tab := range tabsOpen {
		tabs.Go(func() {
			for i := range paths {
				path := paths[(i+tab*len(paths)/tabsOpen)%len(paths)]
				status, err := w.ask(ctx, path)
				assert.NoError(t, err, path)
				assert.Equal(t, alone[path], status, path)
			}
		})
	}
	for range 3 {
		require.NoError(t, w.Stop(t.Context(), "Ann", stopOptions("a look at the rules")))
		require.NoError(t, w.Resume(t.Context(), "Ann", ""))
	}
	tabs.Wait()
	closeTabs()
	streams.Wait()
}

// ask reads what a path answers to its end.
func (w *world) ask(ctx context.Context, path string) (status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+path, nil)
	if err != nil {
		return 0, err
	}
	answer, err := w.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}
