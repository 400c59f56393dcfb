package webui_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/webui"
)

// A browser that says of a request only its origin must say it, and with the policy "no-referrer" it says null. So the
// policy is the next strict one: other hosts learn nothing.
func TestFormsNeedTheirOrigin(t *testing.T) {
	recorder := httptest.NewRecorder()
	webui.Secured(http.NotFoundHandler()).ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	require.Equal(t, "same-origin", recorder.Header().Get("Referrer-Policy"))
	for origin, mayPass := range map[string]bool{"null": false, "http://other.example": false,
		"http://postroom.example": true} {
		r := httptest.NewRequest(http.MethodPost, "http://postroom.example/stop", http.NoBody)
		r.Header.Set("Origin", origin)
		require.Equal(t, mayPass, webui.CheckOrigin(r) == nil, origin)
	}
}
