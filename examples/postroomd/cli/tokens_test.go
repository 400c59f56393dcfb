package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The token of a command works at once, and is shown once; a revoked one does not.
func TestTokensAreAddedAndRevoked(t *testing.T) {
	m, c := newAPI(t, deleteTea)
	added := m.postroomd("tokens", "add", "ci", "--scope", "see", "--days", "90")
	require.Equal(t, 0, added.status, added.stderr)
	c.token = "Bearer " + strings.TrimSpace(added.stdout)
	status, answer := c.call("GET", "", "")
	require.Equal(t, http.StatusOK, status, answer)
	listed := m.postroomd("tokens", "list")
	require.Contains(t, listed.stdout, "ci")
	require.NotContains(t, listed.stdout, strings.TrimSpace(added.stdout))
	require.Equal(t, 0, m.postroomd("tokens", "revoke", "ci").status)
	status, _ = c.call("GET", "", "")
	require.Equal(t, http.StatusUnauthorized, status)
	for says, args := range map[string][]string{
		"there is no token ci":      {"tokens", "revoke", "ci"},
		"there is a token ci":       {"tokens", "add", "ci"},
		"must be one of":            {"tokens", "add", "x", "--scope", "all"},
		"there is no such mailbox":  {"tokens", "add", "x", "--mailbox", "eve@example.org"},
		"is no name of a token":     {"tokens", "add", "The Page"},
		"it must be within 0 and 3": {"tokens", "add", "x", "--days", "-1"},
	} {
		r := m.postroomd(args...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
}
