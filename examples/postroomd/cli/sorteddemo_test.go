package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// demoJSON is what the demo prints. A demo in a new folder without other options has run once for all tests: they get
// copies of its folder.
func demoJSON(t *testing.T, args ...string) view.Summary {
	t.Helper()
	if len(args) == 2 && args[0] == "--data" {
		if _, err := os.Stat(args[1]); errors.Is(err, fs.ErrNotExist) {
			return sortedDemo.copyTo(t, args[1])
		}
	}
	return runDemo(t, args...)
}

func runDemo(t *testing.T, args ...string) view.Summary {
	t.Helper()
	r := postroomd(t, append([]string{"demo", "--json"}, args...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var s view.Summary
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &s), "standard output holds one JSON object and nothing else")
	return s
}

var sortedDemo demoFolder

// A demoFolder is a folder with a demo that has run.
type demoFolder struct {
	mu      sync.Mutex
	path    string // empty before the first test
	summary view.Summary
}

func (d *demoFolder) copyTo(t *testing.T, dir string) view.Summary {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		home, err := os.UserHomeDir() // that of the tests, see atHome
		require.NoError(t, err)
		path := filepath.Join(home, "sorted-demo")
		d.summary = runDemo(t, "--data", path)
		d.path = path
	}
	dbtest.CopyFolder(t, d.path, dir)
	return d.summary
}
