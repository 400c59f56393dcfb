package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
)

type fixPreview struct {
	Deciders []struct{ Rule string }
	Proposal struct {
		Digest, Says string
		Differences  []string
		Then         []string
		Met          bool
	}
	Backtest *struct{ Changed int }
}

// A program sees what a fix would change, and saves just that; the file keeps its comments.
func TestAFixByAProgram(t *testing.T) {
	for name, database := range map[string]string{"sqlite": "", "postgres": dbtest.MigratedDSN(t)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rules.yaml")
			require.NoError(t, os.WriteFile(file, []byte("# mine\nrules:\n  - name: Buy\n    condition: {type: subject_contains, value: buy}\n"+
				"    action: archive\n"), 0o600))
			w := newWorldWith(t, database, func(c *config.Config) { c.Paths.Rules = config.Path(file) }, letter)
			id := call[struct{ Messages []struct{ ID string } }](w, "GET", "/mail", "", http.StatusOK).Messages[0].ID
			path := "/mail/" + sample.Owner + "/" + id + "/fix"

			v := call[fixPreview](w, "POST", path+"/preview", `{"way": "change", "action": "star"}`, http.StatusOK)
			require.Equal(t, "Buy", v.Deciders[0].Rule)
			require.Equal(t, []string{"star"}, v.Proposal.Then)
			require.True(t, v.Proposal.Met)
			require.Equal(t, 1, v.Backtest.Changed)
			require.Contains(t, v.Proposal.Differences[0], "+     action: star")
			digest := `"digest": "` + v.Proposal.Digest + `"}`
			call[problem](w, "POST", path, `{"way": "change", "action": "mark_read", `+digest, http.StatusConflict)
			call[problem](w, "POST", path, `{"way": "change", "action": "star"}`, http.StatusUnprocessableEntity)
			call[problem](w, "POST", path+"/preview", `{"way": "change", "action": "delete"}`, http.StatusUnprocessableEntity)

			w.as = w.add("approver", tokens.Approve, sample.Owner)
			call[problem](w, "POST", path, `{"way": "change", "action": "star", `+digest, http.StatusForbidden)
			w.as = token
			done := call[struct{ Rule string }](w, "POST", path, `{"way": "change", "action": "star", `+digest, http.StatusOK)
			require.Equal(t, "Buy", done.Rule)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), "# mine")
			require.Contains(t, string(text), "action: star")
			call[problem](w, "POST", path, `{"way": "except", `+digest, http.StatusConflict)
		})
	}
}
