package latency_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/latency"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// The statement runs on both engines. It reads what ended within the time by its index, however much there was before.
func TestWhatEndedIsReadByItsIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, mailstore.Migrate(t.Context(), db))
		require.NoError(t, safety.Migrate(t.Context(), db))
		now := time.Now()
		days, err := latency.ByDay(t.Context(), db, []mailstore.Account{{ID: "a"}}, []time.Time{now.Add(-time.Hour), now})
		require.NoError(t, err)
		require.Len(t, days, 1)
		require.Zero(t, days[0].Messages)
		if string(db.Dialect()) != "sqlite" {
			return
		}
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+latency.SQLWaits, "a",
			dbtime.Of(now), postroom.BatchKeyPrefix+"%", 10))
		var details []string
		for _, p := range plan {
			details = append(details, p.Detail)
		}
		all := strings.Join(details, "\n")
		require.Contains(t, all, "SEARCH a USING INDEX actions_ended (account_id=? AND ended_at>?)")
		require.NotContains(t, all, "SCAN")
		require.NotContains(t, all, "TEMP B-TREE")
	})
}
