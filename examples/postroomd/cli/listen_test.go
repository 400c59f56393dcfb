package cli

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A daemon in a container is reached from outside: with the token, and with nothing else.
func TestListenAtAllAddresses(t *testing.T) {
	server, dir := newGmail(t), filepath.Join(t.TempDir(), "data")
	where := []string{"--config", configure(t, server, ""), "--data", dir, "--set", "app.listen=0.0.0.0"}
	r := postroomd(t, append([]string{"run", "--once"}, where...)...)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "other machines reach 0.0.0.0, and nothing asks who they are")

	running := start(t, append(where, "--set", "api.token="+secret(t, apiSecret))...)
	running.ready()
	at, err := url.Parse(running.url)
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1", at.Hostname(), "what a browser of this machine reaches")
	other := net.JoinHostPort(ownAddress(t), at.Port())
	get := func(path, token string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+other+path, nil)
		require.NoError(t, err)
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, get("/api/v1/approvals", apiSecret))
	require.Equal(t, http.StatusUnauthorized, get("/api/v1/approvals", ""))
	require.Equal(t, http.StatusUnauthorized, get("/api/v1/approvals", strings.Repeat("x", 32)))
	require.Equal(t, http.StatusMisdirectedRequest, get("/", apiSecret), "the page is for this machine")
	running.stop()
}

// ownAddress is an address of this machine at which others reach it.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addresses {
		if network, ok := a.(*net.IPNet); ok && network.IP.To4() != nil && !network.IP.IsLoopback() {
			return network.IP.String()
		}
	}
	t.Skip("this machine has no address but loopback")
	return ""
}
