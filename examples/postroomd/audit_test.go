package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestAuditFindsWhatWasAltered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	demoJSON(t, "--data", dir)
	r := postroomd(t, "audit", "verify", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "faults   none")
	r = postroomd(t, "audit", "verify", "--json", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	var found auditView
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &found))
	require.Len(t, found.Heads, 1)
	require.Zero(t, found.Before+found.OtherKey)

	lines := strings.Split(strings.TrimSpace(postroomd(t, "audit", "export", "--data", dir).stdout), "\n")
	require.Len(t, lines, int(found.Entries)+1)
	require.Contains(t, lines[0], `"kind":"event"`, "the settings come first")
	require.Contains(t, lines[len(lines)-1], found.Heads[0])

	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "postroom.db"), nil)
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE decisions SET rationale = 'x' WHERE id = (SELECT MIN(id) FROM decisions)")
		return err
	}))
	require.NoError(t, db.Close())
	r = postroomd(t, "audit", "verify", "--data", dir, "--head", found.Heads[0], "--head", "1:99999:0f")
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, "the row was altered")
	require.Contains(t, r.stdout, "head 1:99999:0f: the log does not reach to this end")
	require.NotContains(t, r.stdout, "head "+found.Heads[0]+":")
	require.Contains(t, postroomd(t, "audit", "verify", "--data", dir, "--head", "x").stderr, `"x" is no head of the log`)
}
