package httpapi

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
)

// The page of the jobs stops everything as the others do.
func TestThePageOfJobsStopsEverything(t *testing.T) {
	h, err := app.New(t.Context(), app.Config{Environment: environment.Demo(environment.Folder(t.TempDir()))})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	pages, onClose, err := newPages(h)
	require.NoError(t, err)
	defer onClose()
	serve := func(method string, to *url.URL) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, to.String(), http.NoBody)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		answer := httptest.NewRecorder()
		access.Local(pages).ServeHTTP(answer, r)
		return answer
	}
	jobs, err := url.Parse("http://127.0.0.1:17800/queue/jobs")
	require.NoError(t, err)
	page := serve(http.MethodGet, jobs)
	require.Equal(t, http.StatusOK, page.Code)
	form := regexp.MustCompile(`<form method="post" action="([^"]+)"><button>Stop</button>`).
		FindStringSubmatch(page.Body.String())
	require.NotNil(t, form, page.Body.String())
	action, err := jobs.Parse(form[1])
	require.NoError(t, err)
	answer := serve(http.MethodPost, action)
	require.Equal(t, http.StatusSeeOther, answer.Code, answer.Body.String())
	stopped, err := h.Ledger.Switch().Stopped(t.Context())
	require.NoError(t, err)
	require.NotNil(t, stopped)
	page = serve(http.MethodGet, jobs)
	require.NotContains(t, page.Body.String(), "Stop</button>", "it is stopped already")
	require.Contains(t, page.Body.String(), `/../#stopped">Everything is stopped: resume</a>`)
}
