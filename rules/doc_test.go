package rules_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
)

func doc(t *testing.T, heading string) string {
	t.Helper()
	source, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(source), "// # "+heading+"\n")
	require.True(t, ok)
	section, _, _ = strings.Cut(section, "// # ")
	var code strings.Builder
	for line := range strings.Lines(section) {
		if indented, ok := strings.CutPrefix(line, "//\t"); ok {
			code.WriteString(indented)
		}
	}
	return code.String()
}

func TestTheFileInTheDocumentationIsOne(t *testing.T) {
	file, err := rules.Parse("doc.yaml", strings.NewReader(doc(t, "A whole file")))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	require.Len(t, file.Rules, 4)
}

func TestTheTableInTheDocumentationHasEachType(t *testing.T) {
	table := strings.ReplaceAll(doc(t, "Conditions"), "to, cc ", "to \ncc ")
	for _, kind := range rules.Kinds() {
		require.Contains(t, "\n"+table, "\n"+string(kind)+" ")
	}
}
