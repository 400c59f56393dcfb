package mailstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/queue"
)

func TestAllMessagesAreReadOnceInTheirOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		first := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
		const count = 2*allMessagesBatch + 50
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for i := range count {
				m := &postroom.Message{AccountID: accountID, ProviderID: fmt.Sprintf("p%04d", i), ProviderThreadID: "t",
					ReceivedAt: first.Add(time.Duration(i/7) * time.Hour), BodyPlain: "plain", BodyHTML: "html",
					From: postroom.Address{Email: fmt.Sprintf("%s%d@Example.org", strings.Repeat("x", 320), i%3)}}
				if i%50 == 0 {
					m.From.Email = "ada@Bücher.example"
				}
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
		some := MessageRange{Since: first.Add(time.Hour), Until: first.Add(40 * time.Hour)}
		require.Len(t, all(some), 39*7)
		newest := some
		newest.NewestFirst = true
		var reversed []string
		for m, err := range s.AllMessages(t.Context(), accountID, newest) {
			require.NoError(t, err)
			require.Equal(t, "plainhtml", m.BodyPlain+m.BodyHTML)
			reversed = append(reversed, m.ProviderID)
		}
		slices.Reverse(reversed)
		require.Equal(t, all(some), reversed)

		from := MessageRange{Senders: []string{"ada@xn--bcher-kva.example", strings.Repeat("x", 320) + "1@example.org",
			"nobody\x00@example.org"}, WithoutBodies: true}
		n := 0
		for m, err := range s.AllMessages(t.Context(), accountID, from) {
			require.NoError(t, err)
			require.Contains(t, from.Senders, mailname.Address(m.From.Email))
			require.Empty(t, m.BodyPlain+m.BodyHTML)
			n++
		}
		require.Equal(t, 156, n, "each third, and those of every fiftieth that are not")
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
