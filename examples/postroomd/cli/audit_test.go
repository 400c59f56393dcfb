package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest"
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
	var found view.Audit
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &found))
	require.Len(t, found.Heads, 1)

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
	r = postroomd(t, "audit", "verify", "--data", dir, "--head", found.Heads[0], "--head", "99999:0f")
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, "the action or its decision was altered")
	require.Contains(t, r.stdout, "head 99999:0f: the log does not have this end")
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
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_,
			err := tx.ExecContext(ctx,
			"UPDATE actions SET message_id = (SELECT message_id FROM actions WHERE id = $1) WHERE id = $2", all[1].ID, id)
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
	require.Equal(t, exitFailed, r.status, "it is rejected, and is not what was decided")
	require.Contains(t, r.stdout, "decision "+id+": the action or its decision was altered")
}

// TestARestoredDatabaseIsNoticed: what was approved is not done again when an earlier state of the database comes
// back, until a person accepts that.
func TestARestoredDatabaseIsNoticed(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	r := m.postroomd("audit", "accept")
	require.Contains(t, r.stdout, "there is nothing to accept")
	database := environment.Folder(m.where[slices.Index(m.where, "--data")+1]).Database()
	backup, err := os.ReadFile(database)
	require.NoError(t, err)
	require.Equal(t, 0, m.postroomd("approvals", "approve", id).status)
	runOnce(t, m.where...)
	require.Equal(t, 1, m.server.Counts()[gmailtest.MessagesDelete])
	for _, beside := range []string{"-wal", "-shm"} {
		require.NoError(t, os.RemoveAll(database+beside))
	}
	require.NoError(t, os.WriteFile(database, backup, 0o600))

	const restored = "the database was put back to an earlier state"
	require.Contains(t, m.postroomd("status").stdout, restored)
	require.Contains(t, m.postroomd("approvals", "show", id).stdout, "ALTERED in the database")
	r = m.postroomd("approvals", "approve", id)
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr, restored)
	require.Equal(t, exitFailed, m.postroomd("audit", "verify").status)
	require.Contains(t, m.postroomd("audit", "accept").stderr, "add --yes to go on")
	r = m.postroomd("audit", "accept", "--yes", "--why", "restored")
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, m.postroomd("status").stdout, restored)
	require.Contains(t, m.postroomd("approvals", "approve", id).stderr, "ask again, or reject it")
	require.Equal(t, 0, m.postroomd("approvals", "renew", id).status)
	require.Contains(t, m.postroomd("approvals", "show", id).stdout, "does not tell whether it was carried out")
	require.Equal(t, 0, m.postroomd("approvals", "approve", id).status)
	require.Equal(t, 0, m.postroomd("audit", "verify").status)
}
