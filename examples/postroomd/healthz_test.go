package main

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// Profiles are for who has asked for them, on this machine: not for a website whose name leads here.
func TestProfilesAreForThisMachine(t *testing.T) {
	get := func(asked bool, address string) int {
		h := &host{site: &site{cfg: config.Config{App: config.App{Pprof: asked}}}, log: slog.New(slog.DiscardHandler)}
		pages, onClose, err := h.pages(new(readiness))
		require.NoError(t, err)
		t.Cleanup(onClose)
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, address, nil))
		return answer.Code
	}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/cmdline", "/debug/pprof/goroutine", "/debug/pprof/symbol"} {
		require.Equal(t, http.StatusOK, get(true, "http://127.0.0.1:17800"+path), path)
		require.Equal(t, http.StatusOK, get(true, "http://localhost"+path), path)
		require.Equal(t, http.StatusMisdirectedRequest, get(true, "http://mallory.example:17800"+path), path)
		require.Equal(t, http.StatusNotFound, get(false, "http://127.0.0.1:17800"+path), path)
	}
}
