package mailindex_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A search asks tables of the program about each message, with words and without, and its pages are of that question.
func TestASearchAsksOtherTables(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		for i := range 6 {
			m := fullMessage(accountID)
			m.ProviderID, m.ReceivedAt = fmt.Sprintf("m%d", i), day.Add(time.Duration(i)*time.Minute)
			m.Subject = []string{"Tea", "Cake"}[i%2]
			m.Size = int64(i)
			save(t, s, m)
		}
		larger := func(than int) mailindex.Condition {
			return mailindex.Condition{Args: []any{than},
				SQL: "EXISTS (SELECT 1 FROM messages WHERE account_id = m.account_id AND id = m.id AND size > %s)"}
		}
		ids := func(search mailindex.Search) (list []string, next string) {
			page, err := s.Search(t.Context(), accountID, search)
			require.NoError(t, err)
			for _, m := range page.Messages {
				list = append(list, m.ProviderID)
			}
			return list, page.Next
		}
		found, _ := ids(mailindex.Search{Also: larger(3)})
		require.Equal(t, []string{"m5", "m4"}, found)
		found, _ = ids(mailindex.Search{Query: "subject:tea", Also: larger(1)})
		require.Equal(t, []string{"m4", "m2"}, found)
		found, _ = ids(mailindex.Search{Query: "subject:tea", Also: larger(5)})
		require.Empty(t, found)

		_, next := ids(mailindex.Search{Also: larger(1), Limit: 2})
		found, _ = ids(mailindex.Search{Also: larger(1), Limit: 2, Cursor: next})
		require.Equal(t, []string{"m3", "m2"}, found)
		_, err := s.Search(t.Context(), accountID, mailindex.Search{Also: larger(2), Limit: 2, Cursor: next})
		require.ErrorIs(t, err, mailindex.ErrSearchCursor)
	})
}
