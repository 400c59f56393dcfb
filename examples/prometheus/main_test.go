package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
}

// What the dashboard names is what Prometheus scrapes.
func TestTheServiceIsScraped(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, filepath.Join(t.TempDir(), "jobs.db"), listener) }()
	at := "http://" + listener.Addr().String()
	dashboard, err := os.ReadFile("../../deploy/grafana/queue.json")
	require.NoError(t, err)
	names := regexp.MustCompile(`postroom_queue_\w+`).FindAllString(string(dashboard), -1)
	var scraped string
	require.Eventually(t, func() bool { // until the first job has ended
		_, scraped = get(t, at+"/metrics")
		return strings.Contains(scraped, "postroom_queue_ended_total")
	}, 30*time.Second, 100*time.Millisecond)
	for _, name := range names {
		require.Contains(t, scraped, name)
	}
	require.Regexp(t, `postroom_queue_up\{[^}]*\} 1\n`, scraped)
	code, _ := get(t, at+"/health/ready")
	require.Equal(t, http.StatusOK, code)
	cancel()
	require.NoError(t, <-ended)
}
