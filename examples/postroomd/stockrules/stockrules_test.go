package stockrules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/stockrules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// Each file is read without a fault or a warning, and does what its tests say.
func TestStockRulesDoWhatTheirTestsSay(t *testing.T) {
	for _, stock := range stockrules.All {
		for _, domain := range []string{"", "Corp.Example"} {
			text, err := stockrules.Text(stock.Name, domain)
			require.NoError(t, err)
			require.NotContains(t, text, "example.org")
			require.Equal(t, domain != "", strings.Contains(text, "corp.example"))
			require.Equal(t, domain != "", strings.Contains(text, "organisation"), text)
			file, err := rulesfile.Parse(stock.Name+".yaml", strings.NewReader(text))
			require.NoError(t, err)
			require.Empty(t, file.Warnings)
			require.GreaterOrEqual(t, len(file.Tests), 3)
			for _, result := range file.Test(file.Tests, nil) {
				require.True(t, result.Passed(), "%s: %+v", stock.Name, result)
			}
			for i := range file.Rules {
				require.False(t, dangerous(file.Rules[i].Action))
			}
		}
	}
	_, err := stockrules.Text("skreener", "")
	require.ErrorContains(t, err, "screener")
	_, err = stockrules.Text("cold", "not a domain")
	require.ErrorContains(t, err, "example.com")
}

func dangerous(action postroom.ActionType) bool {
	kind, _ := postroom.StandardKind(action)
	return kind.Danger == postroom.Dangerous
}
