package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

const (
	oneRule  = "rules:\n  - {name: Tea, condition: {type: subject_contains, value: tea}, action: star}\n"
	twoRules = oneRule + "  - {name: Cake, condition: {type: subject_contains, value: cake}, action: archive}\n"
)

// What changes rules reads them in its transaction: with one connection, or as many writers as connections, it would
// wait for itself.
func TestAChangeOfRulesNeedsOneConnection(t *testing.T) {
	open := func(t *testing.T, file string) (h *App, account, path string) {
		t.Helper()
		h = openTestApp(t, file, func(c *config.Config) {
			c.Paths.Database = config.Database(dbtest.With(t, dbtest.PostgresDSN(t), "pool_max_conns", "1"))
			path = string(c.Paths.Rules)
		})
		account, err := h.AddAccount(t.Context(), sample.Owner)
		require.NoError(t, err)
		return h, account, path
	}
	change := func(t *testing.T, h *App, account, path, text string) {
		t.Helper()
		_, err := h.RuleEditor.Change(t.Context(), account, "a test",
			func(context.Context, queue.Tx, string) (*rulesfile.File, error) {
				return h.RuleEditor.Parse(path, text)
			})
		require.NoError(t, err)
	}
	t.Run("stored", func(t *testing.T) {
		h, account, path := open(t, "")
		change(t, h, account, path, oneRule)
		change(t, h, account, path, twoRules)
		before, err := h.Rules.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Tea", before[0].Name)
		require.NoError(t, h.RuleEditor.Move(t.Context(), "ada", before[0].ID, false))
		after, err := h.Rules.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Cake", after[0].Name)
	})
	t.Run("of a file", func(t *testing.T) {
		h, account, path := open(t, oneRule)
		change(t, h, account, path, oneRule+"# and no more\n")
		change(t, h, account, path, twoRules)
		versions, err := h.Rules.Versions(t.Context(), rulestore.VersionFilter{Account: &account})
		require.NoError(t, err)
		require.Len(t, versions, 2)
		first, err := h.Rules.Version(t.Context(), versions[1].Number)
		require.NoError(t, err)
		_, written, err := h.RuleEditor.Restore(t.Context(), "ada", first, false)
		require.NoError(t, err)
		require.Equal(t, path, written)
		text, err := os.ReadFile(filepath.Clean(path))
		require.NoError(t, err)
		require.Equal(t, oneRule+"# and no more\n", string(text))
	})
}
