package cli

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// Without a file the filters are those that Gmail has, and labels have their names.
func TestFiltersAreImportedFromGmail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Dir: environment.Folder(dir).Gmail(), Email: sample.Owner})
	require.NoError(t, err)
	service, err := server.Service(t.Context())
	require.NoError(t, err)
	label, err := service.Users.Labels.Create("me", &api.Label{Name: "Shops"}).Do()
	require.NoError(t, err)
	_, err = service.Users.Settings.Filters.Create("me", &api.Filter{
		Criteria: &api.FilterCriteria{From: "news@shop.example"},
		Action:   &api.FilterAction{AddLabelIds: []string{label.Id, "STARRED"}, RemoveLabelIds: []string{"INBOX"}},
	}).Do()
	require.NoError(t, err)
	require.NoError(t, server.Close())

	r := postroomd(t, "rules", "import", "gmail", "--data", dir)
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "labels:\n  - Shops\n")
	require.Contains(t, r.stdout, "news@shop.example")
	require.Contains(t, r.stdout, "star")
	require.NotContains(t, r.stdout, label.Id)
	path := writeFile(t, "rules.yaml", r.stdout)
	r = postroomd(t, "rules", "check", path)
	require.Equal(t, 0, r.status, r.stderr)

	r = postroomd(t, "rules", "import", "gmail", "--data", dir, "--mailbox", "no@where.example")
	require.Equal(t, exitUsage, r.status)
}
