package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

// Files of single mailboxes are found by address without regard to case, and relative paths start from the file that
// names them.
func TestMailboxRules(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "config.toml")
	require.NoError(t, os.WriteFile(path, []byte("[paths]\nmailbox_rules = [\"ada@example.org=ada.yaml\"]\n"), 0o600))
	l, err := config.Load(config.Sources{File: path})
	require.NoError(t, err)
	own := l.Config.Paths.MailboxRules
	require.EqualValues(t, filepath.Join(folder, "ada.yaml"), own.Of("Ada@Example.org"))
	require.Empty(t, own.Of("bob@example.org"))
	require.Equal(t, []string{"ada@example.org"}, own.Readers(filepath.Join(folder, "ada.yaml")))

	for _, wrong := range []string{"ada.yaml", "=ada.yaml", "ada@example.org=", "ada=ada.yaml",
		"ada@example.org=a.yaml,ADA@example.org=b.yaml"} {
		_, err := config.Load(config.Sources{Set: []string{"paths.mailbox_rules=" + wrong}})
		require.ErrorContains(t, err, "an address and a path for each mailbox", wrong)
	}
}
