package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// What version 0.1 has stored is carried on, in the tables of all packages: three messages, of which a rule has
// archived two and asks to delete one; one archived message was put back; and an instruction.
func TestADatabaseOfVersion01IsCarriedOn(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		data := filepath.Join(t.TempDir(), "data")
		require.NoError(t, os.Mkdir(data, 0o700))
		db, err := sqlite.Open(t.Context(), filepath.Join(data, "postroom.db"), nil)
		require.NoError(t, err)
		restore(t, db, "sqlite.sql")
		require.NoError(t, db.Close())
		key, err := os.ReadFile("testdata/0.1/approval.key")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(data, "approval.key"), key, 0o600))
		carriesOn(t, newTeatime(t, "{action: archive}", ""), data)
	})
	t.Run("postgres", func(t *testing.T) {
		dsn := dbtest.PostgresDSN(t)
		db, err := postgres.Open(t.Context(), dsn, nil)
		require.NoError(t, err)
		restore(t, db, "postgres.sql")
		require.NoError(t, db.Close())
		settings := "database = \"" + inEnv(t, dsn) + "\"\n"
		carriesOn(t, newTeatime(t, "{action: archive}", settings), filepath.Join(t.TempDir(), "data"))
	})
}

func restore(t *testing.T, db queue.DB, dump string) {
	t.Helper()
	stored, err := os.ReadFile(filepath.Join("testdata/0.1", dump))
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, string(stored))
		return err
	}))
}

func carriesOn(t *testing.T, m *teatime, data string) {
	t.Helper()
	m.where = append(m.where, "--data", data)
	h := m.open() // which migrates
	accounts, err := h.Mail.Accounts(t.Context())
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	require.Equal(t, sample.Owner, accounts[0].Email)

	states := map[postroom.ActionState]int{postroom.ActionCompleted: 3, postroom.ActionPendingApproval: 1}
	require.Equal(t, states, m.states())
	said := func(args ...string) string {
		t.Helper()
		r := m.postroomd(args...)
		require.Equal(t, 0, r.status, r.stderr)
		return r.stdout
	}
	require.NotContains(t, said("approvals", "list"), "ALTERED", "the signature is that of the key")
	require.Contains(t, said("audit", "verify"), "faults   none")
	require.Contains(t, said("instructions", "list"), "Keep what the baker writes.")
	require.Contains(t, said("rules", "history"), "rules.yaml")
	require.Contains(t, said("mail", "search", "chocolate"), "Cake")
	require.Contains(t, said("mail", "search", "from:bäcker"), "Cake")
	require.Contains(t, said("jobs", "list"), "undo.action")

	var waiting []struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(said("approvals", "list", "--json")), &waiting))
	said("approvals", "reject", waiting[0].ID)
	delete(states, postroom.ActionPendingApproval)
	states[postroom.ActionRejected] = 1
	require.Equal(t, states, m.states())
}
