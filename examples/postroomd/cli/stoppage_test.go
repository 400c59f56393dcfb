package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

func TestAPublicDashboardStopsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0", "--dashboard-public")
	d.stays()
	_, page := d.get("/", nil)
	require.NotContains(t, page, "Stop")
	status, _ := d.post("/stop", nil)
	require.GreaterOrEqual(t, status, http.StatusBadRequest)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	stopped, err := h.Ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.Nil(t, stopped)
	require.Equal(t, 0, d.stop())
}

func TestProgramsStopEverything(t *testing.T) {
	_, c := newAPI(t, deleteTea)
	call := func(method, path, body, token string) (int, webapi.Stop) {
		r := httptest.NewRequest(method, "https://approvals.example.org/api/v1/"+path, strings.NewReader(body))
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		c.pages.ServeHTTP(w, r)
		var v webapi.Stop
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
		return w.Code, v
	}
	status, _ := call(http.MethodPost, "stop", "", "Bearer wrong")
	require.Equal(t, http.StatusUnauthorized, status)
	status, v := call(http.MethodGet, "stop", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, webapi.Stop{}, v)

	status, v = call(http.MethodPost, "stop", `{"why": "odd", "allow_undo": true}`, c.token)
	require.Equal(t, http.StatusOK, status)
	require.NotNil(t, v.At)
	require.Equal(t, webapi.Stop{Stopped: true, By: "api", At: v.At, Why: "odd", Undos: true}, v)
	status, v = call(http.MethodPost, "stop", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.False(t, v.Undos, "the last one holds")
	status, _ = call(http.MethodPost, "resume", `{"reason": "x"}`, c.token)
	require.Equal(t, http.StatusBadRequest, status)
	status, v = call(http.MethodPost, "resume", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, webapi.Stop{}, v)
}
