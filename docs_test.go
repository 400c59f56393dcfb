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

// Each cell of the comparison has its source, and what Postroom lacks is a stated non-goal.
func TestComparedHasSources(t *testing.T) {
	page, err := os.ReadFile("docs/compared.md")
	require.NoError(t, err)
	sources := make(map[string]string)
	for _, s := range regexp.MustCompile(`(?m)^\[([a-z-]+)\]: (\S+)$`).FindAllStringSubmatch(string(page), -1) {
		sources[s[1]] = s[2]
		if file, _, _ := strings.Cut(s[2], "#"); !strings.HasPrefix(file, "https://") {
			require.FileExists(t, filepath.Join("docs", file))
		}
	}
	source := regexp.MustCompile(`\]\[([a-z-]+)\]`)
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if !strings.HasPrefix(line, "| ") || cells[0] == "---" || strings.HasPrefix(line, "| | ") {
			continue
		}
		rows++
		require.Len(t, cells, 7, line)
		for i, cell := range cells[1:] {
			if i > 0 && cell == "not documented" {
				continue
			}
			found := source.FindStringSubmatch(cell)
			require.NotNil(t, found, "a cell without a source: %q of %s", cell, line)
			require.Contains(t, sources, found[1])
		}
		if !strings.HasPrefix(cells[1], "[yes]") && !strings.HasPrefix(cells[1], "[measured]") {
			require.Contains(t, cells[1], "(#what-postroom-does-not-have)", line)
		}
	}
	require.Greater(t, rows, 40)
	for _, link := range regexp.MustCompile(`\]\(([^)#: ]+)\)`).FindAllStringSubmatch(string(page), -1) {
		require.FileExists(t, filepath.Join("docs", link[1]))
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }
