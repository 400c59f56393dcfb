package rulesfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/rules/rulesfile"
)

// inTime is a time as a rule writes it, so long after now.
func inTime(d time.Duration) string { return time.Now().UTC().Add(d).Format(time.RFC3339) }

const year = 365 * 24 * time.Hour

// snoozing is a file with a rule that snoozes, and one with two actions of which the second does.
func snoozing(parameters string) string {
	return fmt.Sprintf(`rules:
  - name: Later
    condition: {type: has_attachment}
    action: snooze
    parameters: %s
  - name: Starred, and later
    condition: {type: starred}
    actions: [{action: star}, {action: snooze, parameters: %s}]
`, parameters, parameters)
}

// A time that nobody can wait for is a fault where a rule is checked, and a warning where rules are read: it was
// right once.
func TestUntilIsCheckedAgainstNow(t *testing.T) {
	for name, tc := range map[string]struct{ parameters, fault string }{
		"past":             {"{until: 2020-01-01T00:00:00Z}", "action snooze: 2020-01-01T00:00:00Z is not in the future"},
		"far ahead":        {"{until: 2099-01-01T00:00:00Z}", "action snooze: 2099-01-01T00:00:00Z is more than 365 days ahead"},
		"a year and a day": {"{until: " + inTime(year+24*time.Hour) + "}", "is more than 365 days ahead"},
		"soon":             {"{until: " + inTime(time.Hour) + "}", ""},
		"within a year":    {"{until: " + inTime(year-time.Hour) + "}", ""},
		"days":             {"{amount: 365, units: days}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := snoozing(tc.parameters)
			file, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
			require.NoError(t, err)
			checked, err := rulesfile.Parse("r.yaml", strings.NewReader(text), rulesfile.WithNow(time.Now()))
			if tc.fault == "" {
				require.NoError(t, err)
				require.Empty(t, checked.Warnings)
				require.Empty(t, file.Warnings)
				return
			}
			var faulty *rulesfile.FileError
			require.ErrorAs(t, err, &faulty)
			require.Len(t, faulty.Problems, 2, "%v", err)
			require.Len(t, file.Warnings, 2)
			for i, line := range []int{5, 8} {
				require.Equal(t, line, faulty.Problems[i].Line)
				require.Contains(t, faulty.Problems[i].String(), tc.fault)
				require.Contains(t, file.Warnings[i].String(), tc.fault)
				require.Contains(t, file.Warnings[i].Hint, "each decision of the rule fails")
			}
		})
	}
	for _, parameters := range []string{
		"{amount: 366, units: days}", "{amount: 8761, units: hours}", "{amount: 525601, units: minutes}", "{amount: 0, units: days}", "{amount: -1, units: hours}",
	} {
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(snoozing(parameters)))
		require.Error(t, err, parameters)
	}
}
