package cli

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
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
	require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
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

// TestALogThatWasCutIsNoticed: what was approved is not done again when an earlier state of the database comes back, until a person
// accepts that.
func TestALogThatWasCutIsNoticed(t *testing.T) {
	m := newTeatime(t, deleteTea, "", letterNamed(1))
	runOnce(t, m.where...)
	id := m.actions()[0].ID
	h := m.open()
	exec := func(statement string) {
		require.NoError(t, h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, statement)
			return err
		}))
	}
	r := m.postroomd("audit", "accept")
	require.Contains(t, r.stdout, "there is nothing to accept")
	exec(`CREATE TABLE old_lanes AS SELECT lane, entries, mac, seal FROM audit_lanes`)
	exec(`CREATE TABLE old_actions AS SELECT id, state, error, seal, rev, updated_at FROM actions`)
	exec(`CREATE TABLE old_approvals AS SELECT id, outcome, approver, why, decided_at, rev FROM approvals`)
	require.Equal(t, 0, m.postroomd("approvals", "reject", id).status)
	exec(`UPDATE actions SET (state, error, seal, rev, updated_at) = (SELECT o.state, o.error, o.seal, o.rev, o.updated_at FROM old_actions o WHERE o.id = actions.id)`)
	exec(`UPDATE approvals SET (outcome, approver, why, decided_at, rev) = (SELECT o.outcome, o.approver, o.why, o.decided_at, o.rev FROM old_approvals o WHERE o.id = approvals.id)`)
	exec(`DELETE FROM audit_entries WHERE entry > (SELECT o.entries FROM old_lanes o WHERE o.lane = audit_entries.lane)`)
	exec(`UPDATE audit_lanes SET (entries, mac, seal) = (SELECT o.entries, o.mac, o.seal FROM old_lanes o WHERE o.lane = audit_lanes.lane)`)

	require.Contains(t, m.postroomd("status").stdout, "the end of the log is gone")
	require.Contains(t, m.postroomd("approvals", "show", id).stdout, "ALTERED in the database")
	r = m.postroomd("approvals", "approve", id)
	require.NotEqual(t, 0, r.status)
	require.Contains(t, r.stderr, "the end of the log is gone")
	require.Equal(t, exitFailed, m.postroomd("audit", "verify").status)
	require.Contains(t, m.postroomd("audit", "accept").stderr, "add --yes to go on")
	r = m.postroomd("audit", "accept", "--yes", "--why", "restored")
	require.Equal(t, 0, r.status, r.stderr)
	require.NotContains(t, m.postroomd("status").stdout, "the end of the log is gone")
	require.Contains(t, m.postroomd("approvals", "approve", id).stderr, "ask again, or reject it")
	require.Equal(t, 0, m.postroomd("approvals", "renew", id).status)
	require.Equal(t, 0, m.postroomd("approvals", "approve", id).status)
	require.Equal(t, 0, m.postroomd("audit", "verify").status)
}
