package mailstore

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// Counts that are bounded say how many there are up to the bound, and read no more than that: SQLite the index alone,
// and in the order of it.
func TestBoundedCountsEnd(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		for i := range 5 {
			m := fullMessage(accountID)
			m.ID, m.ProviderID, m.ReceivedAt = "", fmt.Sprint("bounded-", i), day.Add(time.Duration(i)*time.Hour)
			save(t, s, m)
		}
		a := Account{ID: accountID, DecideSince: day.Add(3 * time.Hour)}
		recorded := newRecordingDB(t, s.db)
		s.db = recorded
		for most, want := range map[int][2]int{1: {1, 1}, 3: {3, 3}, 4: {4, 3}, 5: {5, 3}, 100: {5, 3}} {
			all, err := s.CountMessagesUpTo(t.Context(), accountID, most)
			require.NoError(t, err)
			old, err := s.CountOldUpTo(t.Context(), a, most)
			require.NoError(t, err)
			require.Equal(t, want, [2]int{all, old}, "%d at most", most)
		}
		none, err := s.CountOldUpTo(t.Context(), Account{ID: accountID}, 5)
		require.NoError(t, err)
		require.Zero(t, none)
		if recorded.Dialect() != driver.SQLite { // PostgreSQL reads few rows as they stand
			return
		}
		var plans []string
		for _, asked := range recorded.take() {
			plans = append(plans, strings.Join(plan(t, recorded, asked), "\n"))
		}
		all := strings.Join(plans, "\n")
		require.Contains(t, all, "SEARCH messages USING INDEX messages_present (account_id=?)")
		require.Contains(t, all, "SEARCH messages USING INDEX messages_received (account_id=? AND <expr>>? AND <expr><?)")
		require.NotContains(t, all, "TEMP B-TREE")
	})
}
