package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
)

func writeFile(t *testing.T, name, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o640))
	return path
}

const untidy = "rules:\n- condition: {type: starred}   # mine\n  action: archive\n  name: 'one'\n"

func TestRulesAreFormatted(t *testing.T) {
	path := writeFile(t, "rules.yaml", untidy)
	r := postroomd(t, "rules", "fmt", "--check", path)
	require.Equal(t, exitFailed, r.status)
	require.Equal(t, path+"\n", r.stdout)
	require.Contains(t, r.stderr, "1 of 1 files are not in their canonical form")

	r = postroomd(t, "rules", "fmt", path)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, path+"\n", r.stdout)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "rules:\n  - name: one\n    condition: {type: starred}  # mine\n    action: archive\n", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left beside the file")

	r = postroomd(t, "rules", "fmt", "--check", path)
	require.Equal(t, 0, r.status, r.stderr)
	require.Empty(t, r.stdout)

	broken := writeFile(t, "broken.yaml", "rules: [")
	for _, args := range [][]string{{broken}, {path + ".none"}} {
		r = postroomd(t, append([]string{"rules", "fmt"}, args...)...)
		require.Equal(t, exitUsage, r.status, r.stderr)
	}
}

func TestTheSchemaOfRulesIsPrinted(t *testing.T) {
	r := postroomd(t, "rules", "schema")
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, string(rules.Schema(kinds)), r.stdout)
}

func TestRulesAreTested(t *testing.T) {
	r := postroomd(t, "rules", "test", "rules.yaml")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "4 passed, 0 failed\n")

	path := writeFile(t, "rules.yaml", "rules: [{name: one, condition: {type: starred}, action: archive}]")
	r = postroomd(t, "rules", "test", path)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "rules.tests.yaml")

	beside := filepath.Join(filepath.Dir(path), "rules.tests.yaml")
	require.NoError(t, os.WriteFile(beside, []byte("tests: [{name: unstarred, message: {subject: x}, actions: [archive]}]"), 0o600))
	r = postroomd(t, "rules", "test", path)
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stdout, "FAIL  unstarred")
	require.Contains(t, r.stdout, "expected archive, got nothing")
	require.Contains(t, r.stdout, "'one' no match: it fails: starred")
	require.Contains(t, r.stdout, "0 passed, 1 failed\n")
	require.Contains(t, r.stderr, "1 of 1 tests failed")

	r = postroomd(t, "rules", "test", "--json", path)
	require.Equal(t, exitFailed, r.status)
	var v testsView
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
	require.Equal(t, 1, v.Failed)
	require.Equal(t, "unstarred", v.Tests[0].Name)
	require.NotEmpty(t, v.Tests[0].Reasons)

	r = postroomd(t, "rules", "test", path, "--tests", path+".none")
	require.Equal(t, exitUsage, r.status)
}
