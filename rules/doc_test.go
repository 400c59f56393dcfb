package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
)

func TestTheTableInTheDocumentationHasEachType(t *testing.T) {
	table := strings.ReplaceAll(rulestest.Doc(t, "doc.go", "Conditions"), "to, cc ", "to \ncc ")
	for _, kind := range rules.Kinds() {
		require.Contains(t, "\n"+table, "\n"+string(kind)+" ")
	}
}
