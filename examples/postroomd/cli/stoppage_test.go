package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// One click stops everything, and one click lets it go on; the page says who did so, at the width of a desk and of a phone.
func TestOneClickStopsEverything(t *testing.T) {
	tab := browsertest.NewTab(t)
	dir := filepath.Join(t.TempDir(), "data")
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0")
	d.stays()
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	stopped := func() *safety.Stop {
		s, err := h.Ledger.Stopped(t.Context())
		require.NoError(t, err)
		return s
	}
	do := func(script string) {
		_, err := chromedp.Run(tab, chromedp.Evaluate[chromedp.Void](script))
		require.NoError(t, err)
	}
	shows := func(text string) {
		browsertest.Until(tab, t, `document.body.innerText.includes("`+text+`") && document.documentElement.scrollWidth <= innerWidth`)
	}
	for _, size := range [][2]int64{{1280, 800}, {390, 844}} {
		require.NoError(t, chromedp.Do(tab, chromedp.EmulateViewport(size[0], size[1]), chromedp.Navigate(d.url)))
		do(`document.querySelector('header a[href$="actions"]').click()`)
		shows("Actions are carried out")
		picture(tab, t, fmt.Sprintf("going-%d", size[0]))
		do(`document.querySelector("button.stop").click()`)
		shows("Everything is stopped")
		shows(app.CurrentUser() + " at the dashboard")
		require.NotNil(t, stopped())
		require.Equal(t, app.CurrentUser()+" at the dashboard", stopped().By)
		picture(tab, t, fmt.Sprintf("stopped-%d", size[0]))
		do(`document.querySelector("button.resume").click()`)
		shows("Actions are carried out")
		require.Nil(t, stopped())
	}
	status, _ := d.do(http.MethodPost, "/actions/stop", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	require.Equal(t, http.StatusForbidden, status)
	status, _ = d.do(http.MethodPost, "/actions/stop", nil, func(r *http.Request) { r.Host = "evil.example" })
	require.Equal(t, http.StatusMisdirectedRequest, status)
	require.Nil(t, stopped())
	require.Equal(t, 0, d.stop())
}

// picture keeps what the page looks like, if POSTROOM_TEST_PICTURES names a folder.
func picture(tab context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("POSTROOM_TEST_PICTURES")
	if folder == "" {
		return
	}
	shot, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o600))
}

func TestAPublicDashboardStopsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := startShown(t, "--data", dir, "--dashboard", "127.0.0.1:0", "--dashboard-public")
	d.stays()
	_, page := d.get("/", nil)
	require.NotContains(t, page, "Actions")
	status, _ := d.get("/actions", nil)
	require.Equal(t, http.StatusNotFound, status)
	status, _ = d.post("/actions/stop", nil)
	require.GreaterOrEqual(t, status, http.StatusBadRequest)
	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	stopped, err := h.Ledger.Stopped(t.Context())
	require.NoError(t, err)
	require.Nil(t, stopped)
	require.Equal(t, 0, d.stop())
}

func TestProgramsStopEverything(t *testing.T) {
	_, c := newAPI(t, deleteTea)
	call := func(method, path, body, token string) (int, view.Stop) {
		r := httptest.NewRequest(method, "https://approvals.example.org/api/v1/"+path, strings.NewReader(body))
		r.Header.Set("Authorization", token)
		w := httptest.NewRecorder()
		c.pages.ServeHTTP(w, r)
		var v view.Stop
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &v))
		return w.Code, v
	}
	status, _ := call(http.MethodPost, "stop", "", "Bearer wrong")
	require.Equal(t, http.StatusUnauthorized, status)
	status, v := call(http.MethodGet, "stop", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, view.Stop{}, v)

	status, v = call(http.MethodPost, "stop", `{"why": "odd", "allow_undo": true}`, c.token)
	require.Equal(t, http.StatusOK, status)
	require.NotNil(t, v.At)
	require.Equal(t, view.Stop{Stopped: true, By: "api", At: v.At, Why: "odd", Undos: true}, v)
	status, v = call(http.MethodPost, "stop", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.False(t, v.Undos, "the last one holds")
	status, _ = call(http.MethodPost, "resume", `{"reason": "x"}`, c.token)
	require.Equal(t, http.StatusBadRequest, status)
	status, v = call(http.MethodPost, "resume", "", c.token)
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, view.Stop{}, v)
}
