package mailindex_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A search for what is nearly nowhere looks at so many messages for a page, says how far it has come, and goes on from
// there: page by page it finds what one that looks at all finds.
func TestASearchForWhatIsNearlyNowhereGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		const stored = 150
		for i := range stored {
			m := fullMessage(accountID)
			m.ProviderID, m.ProviderThreadID = fmt.Sprint("m", i), fmt.Sprint("t", i)
			m.LabelIDs, m.ReceivedAt = []string{"INBOX", "UNREAD"}, day.Add(time.Duration(i/3)*time.Hour)
			if i == 7 || i == 92 {
				m.LabelIDs = []string{"UNREAD"}
			}
			save(t, s, m)
		}
		index := s.Index()
		for query, looks := range map[string]bool{
			"-in:inbox": true, "-is:unread": true, "-in:inbox after:2026/03/08": true, "-in:inbox before:2026/03/08": true,
			"-in:inbox after:2026/03/08 before:2026/03/09": true, "": false, "-zebra": false,
		} {
			index.Windows(1000, 1000, 100_000)
			want, err := index.Search(t.Context(), accountID, mailindex.Search{Query: query, Limit: 200})
			require.NoError(t, err)
			require.Empty(t, want.Next)
			require.Zero(t, want.ReadTo)

			index.Windows(4, 16, 20)
			search, pages, empty := mailindex.Search{Query: query, Limit: 200}, 0, 0
			var found []string
			last := day.AddDate(1, 0, 0)
			for {
				page, err := index.Search(t.Context(), accountID, search)
				require.NoError(t, err)
				for _, m := range page.Messages {
					found = append(found, m.ID)
				}
				pages++
				require.Equal(t, page.Next == "", page.ReadTo.IsZero(), "%q: nothing else ends a page", query)
				if search.Cursor = page.Next; page.Next == "" {
					break
				}
				require.False(t, page.ReadTo.After(last), query)
				require.Less(t, pages, stored, query)
				if last = page.ReadTo; len(page.Messages) == 0 {
					empty++
				}
			}
			var ids []string
			for _, m := range want.Messages {
				ids = append(ids, m.ID)
			}
			require.Equal(t, ids, found, query)
			require.Equal(t, looks, pages > 1, "%q: %d pages", query, pages)
			if looks {
				require.Positive(t, empty, "%q: no page is without a message", query)
			}
		}
	})
}
