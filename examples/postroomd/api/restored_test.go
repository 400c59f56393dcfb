package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/safety/checkpoint"
)

// What a restored database holds is said by the stop as by the status, with what ends it, and beside a stop too: who
// resumes would think that all goes on.
func TestTheStopSaysWhatARestoredDatabaseHolds(t *testing.T) {
	w := newWorld(t)
	require.Empty(t, call[webapi.Stop](w, "GET", "/stop", "", http.StatusOK).Held)
	seen := checkpoint.File(w.app.Env.Folder.Checkpoint())
	require.NoError(t, seen.SetStep("01ffffff-0000-7000-8000-00000000000f 2"))
	reopened, err := app.Open(t.Context(), w.app.Env)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reopened.Close()) })
	handler, err := api.New(reopened)
	require.NoError(t, err)
	t.Cleanup(handler.Close)
	w.app, w.api = reopened, handler

	status := func() string {
		s, err := view.NewStatus(t.Context(), w.app)
		require.NoError(t, err)
		return s.Stopped
	}
	shown := call[webapi.Stop](w, "GET", "/stop", "", http.StatusOK)
	require.False(t, shown.Stopped)
	require.Regexp(t, "no action is carried out or taken back: .* with 'postroomd audit accept'$", shown.Held)
	require.Equal(t, shown.Held, status())

	stopped := call[webapi.Stop](w, "POST", "/stop", `{"why": "odd mail"}`, http.StatusOK)
	require.True(t, stopped.Stopped)
	require.Equal(t, shown.Held, stopped.Held)
	require.Contains(t, status(), "odd mail")
	require.Contains(t, status(), "\n"+shown.Held)
	require.Equal(t, shown.Held, call[webapi.Stop](w, "POST", "/resume", "", http.StatusOK).Held)
}
