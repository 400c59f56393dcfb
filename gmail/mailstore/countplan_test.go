package mailstore

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// A count reads the index that has nothing but what is counted. SQLite reads no row for it: that it has not been
// deleted is the condition of the index.
func TestCountMessagesReadsItsIndex(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		save(t, s, fullMessage(accountID))
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		n, err := s.CountMessages(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		asked := recorded.take()
		require.Len(t, asked, 1)
		steps := strings.Join(plan(t, recorded, asked[0]), "\n")
		if recorded.Dialect() == driver.SQLite { // PostgreSQL reads few rows as they stand
			require.Equal(t, "SEARCH messages USING INDEX messages_present (account_id=?)", steps)
		}
	})
}

// The messages of a few senders are found by their index, in whichever order they are read.
func TestAllMessagesOfSendersReadTheirIndex(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		for _, senders := range [][]string{{"a@x.example"}, {"a@x.example", "b@x.example"}} {
			r := MessageRange{Since: day, Senders: senders, NewestFirst: true}
			for _, err := range s.AllMessages(t.Context(), accountID, r) {
				require.NoError(t, err)
			}
			asked := recorded.take()
			steps := strings.Join(plan(t, recorded, asked[0]), "\n")
			require.Contains(t, steps, "messages_sender", steps)
			_ = recorded.take()
		}
	})
}
