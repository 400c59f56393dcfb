package api_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// narrow has the calls answered by a process whose pool has one connection.
func (w *world) narrow(dsn string) {
	w.Helper()
	cfg := w.app.Env.Config
	cfg.Paths.Database = config.Database(dbtest.With(w, dsn, "pool_max_conns", "1"))
	env := &environment.Environment{Folder: w.app.Env.Folder, Config: cfg}
	a, err := app.New(w.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(w, err)
	w.Cleanup(func() { require.NoError(w, a.Close()) })
	handler, err := api.New(a)
	require.NoError(w, err)
	w.Cleanup(handler.Close)
	w.app, w.api = a, handler
}

// What a call changes it reads in its transaction: with one connection, or as many callers as connections, it would
// wait for itself.
func TestACallNeedsOneConnection(t *testing.T) {
	dsn := dbtest.MigratedDSN(t)
	w := newWorldOn(t, dsn, mail("ann@example.com", "tea"))
	w.narrow(dsn)
	account, err := w.app.Mail.AccountByEmail(t.Context(), sample.Owner)
	require.NoError(t, err)

	recorder, answer := w.try("POST", "/rules", starTea)
	require.Equal(t, http.StatusOK, recorder.Code, answer)
	list := call[[]webapi.Rule](w, "GET", "/rules", "", http.StatusOK)
	one := call[webapi.Rule](w, "PATCH", "/rules/"+list[0].ID, `{"priority": 7}`, http.StatusOK, "If-Match",
		recorder.Header().Get("ETag"))
	require.Equal(t, 7, one.Priority)

	const path = "/instructions"
	made := call[view.Instruction](w, "POST", path, `{"name": "Star", "text": "Star it."}`, http.StatusOK)
	patched := call[view.Instruction](w, "PATCH", path+"/"+made.ID, `{"scope": "mailbox", "scope_ref": "`+account.ID+`"}`,
		http.StatusOK)
	require.Equal(t, account.ID, patched.ScopeRef)
	call[problem](w, "PATCH", path+"/"+made.ID, `{"scope_ref": "nobody"}`, http.StatusUnprocessableEntity)
	call[problem](w, "POST", path, `{"name": "x", "text": "x", "scope": "mailbox", "scope_ref": "nobody"}`,
		http.StatusUnprocessableEntity)
}
