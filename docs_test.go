package postroom_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every Go snippet of the README stands in a file that is compiled, so that none describes last year's code.
func TestReadmeSnippetsAreCompiled(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, snippets)

	var sources strings.Builder
	require.NoError(t, filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		source, err := os.ReadFile(path)
		sources.WriteString(squeeze(string(source)))
		return err
	}))
	for _, snippet := range snippets {
		require.Contains(t, sources.String(), squeeze(snippet[1]),
			"copy the snippet from a compiled file, an Example or a program")
	}
}

func TestReadmeShowsAProgramEarly(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	before, _, found := strings.Cut(string(readme), "```go\npackage main")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(before, "\n")+1, 25)
}

// Links into the repository lead somewhere.
func TestReadmeLinks(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, link := range regexp.MustCompile(`\]\(([^)#: ]+)\)`).FindAllStringSubmatch(string(readme), -1) {
		require.FileExists(t, link[1])
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
