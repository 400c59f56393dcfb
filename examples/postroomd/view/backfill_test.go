package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
)

func TestABackfillIsForeseen(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		of    AccountStatus
		added time.Time
		done  int
		ends  time.Time
	}{
		"a quarter":   {AccountStatus{Backfill: mailstore.BackfillRunning, Listed: 25, Estimate: 100}, now.Add(-time.Hour), 25, now.Add(3 * time.Hour)},
		"beyond it":   {AccountStatus{Backfill: mailstore.BackfillRunning, Listed: 120, Estimate: 100}, now.Add(-time.Hour), 100, now},
		"not begun":   {AccountStatus{Backfill: mailstore.BackfillRunning, Estimate: 100}, now.Add(-time.Hour), 0, time.Time{}},
		"since never": {AccountStatus{Backfill: mailstore.BackfillRunning, Listed: 25, Estimate: 100}, time.Time{}, 25, time.Time{}},
		"done":        {AccountStatus{Backfill: mailstore.BackfillDone, Listed: 25, Estimate: 100}, now.Add(-time.Hour), 0, time.Time{}},
	} {
		m := Mailbox{AccountStatus: c.of}
		m.foresee(c.added, now)
		require.Equal(t, c.done, m.Done, name)
		require.Equal(t, c.ends, m.Ends, name)
	}
}
