package archivecmd

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDaysSelect(t *testing.T) {
	day := time.Date(2026, 11, 27, 0, 0, 0, 0, time.Local)
	for name, c := range map[string]struct {
		flags        selectionFlags
		since, until time.Time
	}{
		"none":       {},
		"since":      {flags: selectionFlags{since: "2026-11-27"}, since: day},
		"until":      {flags: selectionFlags{until: "2026-11-27"}, until: day},
		"both alike": {flags: selectionFlags{since: "2026-11-27", until: "2026-11-27"}, since: day, until: day},
		"both": {flags: selectionFlags{since: "2026-11-27", until: "2026-11-28"}, since: day,
			until: day.AddDate(0, 0, 1)},
	} {
		for range 20 { // an order by chance would show
			s, err := c.flags.selection()
			require.NoError(t, err, name)
			require.Equal(t, c.since, s.Since, name)
			require.Equal(t, c.until, s.Until, name)
		}
	}
	_, err := (&selectionFlags{until: "yesterday"}).selection()
	require.ErrorContains(t, err, `"yesterday" is no day`)
}
