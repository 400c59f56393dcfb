package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/statistics"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

func TestStatisticsAreReadByMailboxAndTime(t *testing.T) {
	each(t, func(w *world) {
		w.decide(starTea, "subject:tea")
		before := call[statistics.View](w, "GET", "/statistics", "", http.StatusOK)
		require.Positive(t, before.Days)
		require.NoError(t, w.app.Statistics.Count(t.Context()))
		all := call[statistics.View](w, "GET", "/statistics?mailbox="+sample.Owner+"&senders=2", "", http.StatusOK)
		require.Zero(t, all.Days)
		require.Equal(t, []string{sample.Owner}, all.Mailboxes)
		require.Len(t, all.Senders, 2)
		require.Equal(t, all.Messages, all.Others+all.Senders[0].Messages+all.Senders[1].Messages)
		require.NotEmpty(t, all.Rules)
		require.InDelta(t, 1, all.Rules[0].Accuracy, 1e-9)
		none := call[statistics.View](w, "GET", "/statistics?from=1999-01-01&to=1999-12-31", "", http.StatusOK)
		require.Zero(t, none.Messages)
		require.Empty(t, none.Senders)
		for _, query := range []string{"from=yesterday", "from=2026-02-01&to=2026-01-01", "senders=-1", "senders=5000"} {
			call[problem](w, "GET", "/statistics?"+query, "", http.StatusUnprocessableEntity)
		}
	})
}
