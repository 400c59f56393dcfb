package mailstore

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

func TestAllMessagesAreReadOnceInTheirOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		first := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
		const count = 2*allMessagesBatch + 50
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for i := range count {
				m := &postroom.Message{AccountID: accountID, ProviderID: fmt.Sprintf("p%04d", i), ProviderThreadID: "t",
					ReceivedAt: first.Add(time.Duration(i/7) * time.Hour)}
				if i%10 == 0 {
					m.LabelIDs = []string{postroom.LabelSent}
				}
				if _, err := s.SaveMessage(ctx, tx, m, 1); err != nil {
					return err
				}
			}
			_, err := s.Copies().MarkDeleted(ctx, tx, accountID, "p0003")
			return err
		})
		all := func(r MessageRange) (ids []string) {
			seen, last := map[string]bool{}, time.Time{}
			for m, err := range s.AllMessages(t.Context(), accountID, r) {
				require.NoError(t, err)
				require.False(t, seen[m.ID])
				require.False(t, m.ReceivedAt.Before(last))
				seen[m.ID], last, ids = true, m.ReceivedAt, append(ids, m.ProviderID)
			}
			return ids
		}
		require.Len(t, all(MessageRange{}), count-1)
		require.NotContains(t, all(MessageRange{}), "p0003")
		require.Len(t, all(MessageRange{SkipLabels: []string{postroom.LabelSent}}), count-1-count/10)
		require.Len(t, all(MessageRange{Since: first.Add(time.Hour), Until: first.Add(40 * time.Hour)}), 39*7)
		for range s.AllMessages(t.Context(), accountID, MessageRange{}) {
			break
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range s.AllMessages(ctx, accountID, MessageRange{}) {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}
