package rulesfile_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func TestTheFileInTheDocumentationIsOne(t *testing.T) {
	file, err := rulesfile.Parse("doc.yaml", strings.NewReader(rulestest.Doc(t, "doc.go", "A whole file")))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)
	require.Len(t, file.Rules, 4)
}
