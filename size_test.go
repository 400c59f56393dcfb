package postroom_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package that is larger than this is read by nobody: it is parted, with a noun of the field for each part.
const (
	mostFiles = 35
	mostLines = 6500
)

// larger are the packages that exceed a bound, each with the bound that it has instead, and why.
var larger = map[string]struct {
	files, lines int
	why          string
}{
	"queue": {files: 36, lines: 9450, why: "the types of a queue's API are one vocabulary, and its services share the dispatcher"},
}

func TestPackagesStaySmall(t *testing.T) {
	for _, line := range list(t, "./...", `{{.ImportPath}}:{{.Dir}}:{{join .GoFiles ","}},{{join .CgoFiles ","}}`) {
		path, rest, _ := strings.Cut(line, ":")
		name := ours(path)
		if onlyTests(name) {
			continue
		}
		at := strings.LastIndex(rest, ":")
		files, lines := size(t, rest[:at], strings.Split(rest[at+1:], ","))
		most := larger[name]
		require.LessOrEqual(t, files, max(mostFiles, most.files), "package %q has %d files: part it", name, files)
		require.LessOrEqual(t, lines, max(mostLines, most.lines), "package %q has %d lines: part it", name, lines)
		if most.why != "" {
			require.True(t, files > mostFiles || lines > mostLines, "package %q is small enough by now: take it from the list",
				name)
		}
	}
}

func onlyTests(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasSuffix(part, "test") || part == "chaos" || part == "jobtree" {
			return true
		}
	}
	return false
}

func size(t *testing.T, dir string, names []string) (files, lines int) {
	t.Helper()
	for _, name := range names {
		if name == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		files, lines = files+1, lines+bytes.Count(text, []byte("\n"))
	}
	return files, lines
}
