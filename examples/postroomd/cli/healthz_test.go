package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/httpapi"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

// Profiles are for who has asked for them and signed in, on this machine: not for a website whose name leads here.
func TestProfilesAreForThisMachine(t *testing.T) {
	get := func(asked bool, address string, as ...*http.Cookie) (status int) {
		env := environment.Demo(environment.Folder(t.TempDir()))
		env.Config.App.Pprof = asked
		h, err := app.Open(t.Context(), env)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.Close()) })
		login := queueui.NewLogin("http://localhost/", nil)
		pages, onClose, err := httpapi.NewHandler(h, login)
		require.NoError(t, err)
		t.Cleanup(onClose)
		signIn := httptest.NewRecorder()
		pages.ServeHTTP(signIn, fromHere(login.Address()))
		r := fromHere(address)
		if len(as) == 0 {
			as = signIn.Result().Cookies()
		}
		for _, c := range as {
			r.AddCookie(c)
		}
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, r)
		return answer.Code
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine",
		"/debug/pprof/symbol"} {
		require.Equal(t, http.StatusOK, get(true, "http://127.0.0.1:17800"+path), path)
		require.Equal(t, http.StatusOK, get(true, "http://localhost"+path), path)
		require.Equal(t, http.StatusMisdirectedRequest, get(true, "http://mallory.example:17800"+path), path)
		require.Equal(t, http.StatusNotFound, get(false, "http://127.0.0.1:17800"+path), path)
		another := &http.Cookie{Name: "queueui", Value: "guess"}
		require.Equal(t, http.StatusUnauthorized, get(true, "http://localhost"+path, another), path)
	}
}

// fromHere is a request of a program on this machine.
func fromHere(address string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.RemoteAddr = "127.0.0.1:50000"
	return r
}

// A database that can be read and not be written is not healthy: so is one on a full disk.
func TestAFullDiskIsNotHealthy(t *testing.T) {
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(t.TempDir())))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	pages, onClose, err := httpapi.NewHandler(h, nil)
	require.NoError(t, err)
	defer onClose()
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, fromHere("http://127.0.0.1:17800"+path))
		return answer.Code, answer.Body.String()
	}
	for range 2 {
		status, body := get("/healthz")
		require.Equal(t, http.StatusOK, status, body)
	}
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		for _, change := range []string{"INSERT", "UPDATE"} {
			_, err := tx.ExecContext(ctx, "CREATE TRIGGER full_"+change+" BEFORE "+change+
				" ON postroomd_probes BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
			if err != nil {
				return err
			}
		}
		return nil
	}))
	for _, path := range []string{"/healthz", "/readyz"} {
		status, body := get(path)
		require.Equal(t, http.StatusServiceUnavailable, status, body)
		require.Contains(t, body, "database or disk is full")
	}
}

// A mailbox whose grant is gone takes in no mail, and a person has to sign in: both checks say so. The program is
// sound: nothing is gained by starting it anew.
func TestALostGrantIsSaid(t *testing.T) {
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(t.TempDir())))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	pages, onClose, err := httpapi.NewHandler(h, nil)
	require.NoError(t, err)
	defer onClose()
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, fromHere("http://127.0.0.1:17800"+path))
		return answer.Code, answer.Body.String()
	}
	_, before := get("/readyz")
	require.NotContains(t, before, "grant")
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		id, err := h.Mail.EnsureAccount(ctx, tx, "ada@example.org", time.Now())
		if err != nil {
			return err
		}
		return h.Mail.SignOut(ctx, tx, h.Queue, id, "revoked")
	}))
	status, body := get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, body, "ada@example.org has lost its grant: sign in again with 'postroomd auth login ada@example.org'")
	status, body = get("/healthz")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `"status": "degraded"`)
	require.Contains(t, body, "ada@example.org has lost its grant")
}
