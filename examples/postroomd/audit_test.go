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
	require.Contains(t, lines[0], `"kind":"adoption"`, "rules that were there before come first")
	require.Contains(t, lines[1], `"kind":"event"`, "the settings come next")
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

// TestAWaitingDeleteIsNotTurnedOnAnotherMail: neither renewed nor shown as if nothing had been, and it stays on record.
func TestAWaitingDeleteIsNotTurnedOnAnotherMail(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1), letterNamed(2))
	runOnce(t, m.where...)
	all := m.actions()
	require.Len(t, all, 2)
	id := all[0].ID
	h := m.open()
	require.NoError(t, h.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE actions SET message_id = (SELECT message_id FROM actions WHERE id = $1) WHERE id = $2", all[1].ID, id)
		return err
	}))
	require.Contains(t, m.postroomd("approvals", "show", id).stdout, "ALTERED in the database")
	require.Contains(t, m.postroomd("approvals", "show", id, "--json").stdout, `"altered": true`)
	require.Contains(t, m.postroomd("approvals", "list").stdout, "ALTERED in the database")
	for _, verb := range []string{"renew", "approve"} {
		r := m.postroomd("approvals", verb, id)
		require.Equal(t, exitUsage, r.status, verb)
		require.Contains(t, r.stderr, "'postroomd approvals reject'")
	}
	require.Equal(t, exitFailed, m.postroomd("audit", "verify").status)
	r := m.postroomd("approvals", "reject", id)
	require.Equal(t, 0, r.status, r.stderr)
	r = m.postroomd("audit", "verify")
	require.Equal(t, exitFailed, r.status, "it is rejected, and stays on record")
	require.Contains(t, r.stdout, "fault "+id+": it had been altered when it came to reject it")
}
