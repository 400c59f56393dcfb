package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The token of a command works at once, and is shown once; a revoked one does not.
func TestTokensAreAddedAndRevoked(t *testing.T) {
	m, c := newAPI(t, deleteTea)
	added := m.postroomd("tokens", "add", "ci", "--scope", "see")
	require.Equal(t, 0, added.status, added.stderr)
	ends := time.Now().Add(90 * 24 * time.Hour).Format("2006-01-02")
	require.Contains(t, added.stderr, "The token ci ends at "+ends)
	c.token = "Bearer " + strings.TrimSpace(added.stdout)
	status, answer := c.call("GET", "", "")
	require.Equal(t, http.StatusOK, status, answer)
	listed := m.postroomd("tokens", "list")
	require.Contains(t, listed.stdout, "ci")
	require.NotContains(t, listed.stdout, strings.TrimSpace(added.stdout))
	require.Contains(t, listed.stdout, ends)
	h := m.open()
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, "UPDATE api_tokens SET expires_at = NULL") // as one of before is
		return err
	}))
	require.Contains(t, m.postroomd("tokens", "list").stdout, "without end")
	require.Equal(t, 0, m.postroomd("tokens", "revoke", "ci").status)
	status, _ = c.call("GET", "", "")
	require.Equal(t, http.StatusUnauthorized, status)
	for says, args := range map[string][]string{
		"there is no token ci":     {"tokens", "revoke", "ci"},
		"there is a token ci":      {"tokens", "add", "ci"},
		"must be one of":           {"tokens", "add", "x", "--scope", "all"},
		"there is no such mailbox": {"tokens", "add", "x", "--mailbox", "eve@example.org"},
		"is no name of a token":    {"tokens", "add", "The Page"},
		"--days is 0; it must be":  {"tokens", "add", "x", "--days", "0"},
		"within 1 and 90":          {"tokens", "add", "x", "--days", "91"},
	} {
		r := m.postroomd(args...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
}
