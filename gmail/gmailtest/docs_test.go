package gmailtest_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/internal/gmailquery"
)

var update = flag.Bool("update", false, "write the tables of docs/gmailtest.md and the golden files")

const docsPage = "../../docs/gmailtest.md"

// The table of methods is that of the server.
func TestDocsMethods(t *testing.T) {
	var table strings.Builder
	table.WriteString("| method | request | units | answered |\n| --- | --- | ---: | --- |\n")
	implemented := 0
	for _, route := range gmailtest.Routes() {
		answered := "501"
		if route.Implemented {
			answered = "yes"
			implemented++
		}
		fmt.Fprintf(&table, "| %s | %s %s | %d | %s |\n", route.ID, route.Verb, route.Path,
			gmailtest.Units(route.ID), answered)
	}
	fmt.Fprintf(&table, "\n%d of %d methods are implemented.\n", implemented, len(gmailtest.Routes()))
	requireDocs(t, "methods", table.String())
}

// The table of operators is that of the searches.
func TestDocsOperators(t *testing.T) {
	var table strings.Builder
	table.WriteString("| operator | example | finds |\n| --- | --- | --- |\n")
	for _, o := range gmailquery.Operators() {
		fmt.Fprintf(&table, "| %s: | `%s` | %s |\n", o.Name, o.Example, o.Finds)
	}
	requireDocs(t, "operators", table.String())
}

// requireDocs holds one section of the page, between two comments of its name, against the text.
func requireDocs(t *testing.T, section, text string) {
	t.Helper()
	page, err := os.ReadFile(docsPage)
	require.NoError(t, err)
	begin, end := "<!-- "+section+" -->\n", "<!-- end of "+section+" -->"
	before, rest, found := strings.Cut(string(page), begin)
	require.True(t, found, "%s has no %s", docsPage, begin)
	there, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no %s", docsPage, end)
	if *update {
		require.NoError(t, os.WriteFile(docsPage, []byte(before+begin+text+end+after), 0o644))
		return
	}
	require.True(t, text == there, "%s has another table of %s: go test ./gmail/gmailtest -update writes it",
		docsPage, section)
}
