package mailstore

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
)

func TestSenderSeen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		other := ensureAccount(t, s, "other@example.com")
		from := func(account, email string, at time.Time) *postroom.Message {
			m := fullMessage(account)
			m.ProviderID, m.From.Email, m.ReceivedAt = rand.Text(), email, at
			save(t, s, m)
			return m
		}
		seen := func(m *postroom.Message) bool {
			t.Helper()
			seen, err := s.SenderSeen(t.Context(), m)
			require.NoError(t, err)
			return seen
		}
		first := from(accountID, "Zoe@Example.org", day)
		require.False(t, seen(first), "it is not before itself")
		second := from(accountID, "zoe@example.ORG", day.Add(time.Second))
		require.True(t, seen(second))
		require.False(t, seen(first), "what came later does not count")
		older := from(accountID, "zoe@example.org", day.Add(-time.Hour))
		require.True(t, seen(first), "what is stored later does, if it came before")
		require.False(t, seen(older))
		require.False(t, seen(from(other, "zoe@example.org", day.Add(time.Hour))), "each account has senders of its own")
		require.False(t, seen(from(accountID, "zoe@example.organic", day.Add(time.Hour))))
		require.False(t, seen(from(accountID, "", day)) || seen(from(accountID, "", day.Add(time.Hour))),
			"nobody is no sender")

		for i, email := range []string{"Max@bücher.example", "max@BÜCHER.example", "max@xn--bcher-kva.example",
			"MAX@bücher。Example", "max@XN--BCHER-KVA.example"} {
			require.Equal(t, i > 0, seen(from(accountID, email, day.Add(time.Duration(i)*time.Second))), email)
		}

		twins := []*postroom.Message{from(accountID, "twin@example.org", day), from(accountID, "twin@example.org", day)}
		require.NotEqual(t, seen(twins[0]), seen(twins[1]), "of two at the same time one is the first")
		require.True(t, seen(&postroom.Message{AccountID: accountID, From: postroom.Address{Email: "twin@example.org"}}),
			"neither stored nor with a time")

		_, err := s.SenderSeen(t.Context(), nil)
		require.ErrorContains(t, err, "the message is nil")
	})
}

// An address of any length and content is stored, and found.
func TestCountEarlierUpToABound(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		for i := range 5 {
			m := fullMessage(accountID)
			m.ProviderID, m.From.Email, m.ReceivedAt = rand.Text(), "zoe@example.org", day.Add(time.Duration(i)*time.Hour)
			save(t, s, m)
			for _, most := range []int{1, 3, 10} {
				n, err := s.CountEarlier(t.Context(), m, most)
				require.NoError(t, err)
				require.Equal(t, min(i, most), n)
			}
		}
	})
}

func TestSenderSeenOfALongAddress(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		noise := make([]byte, 8<<10) // what does not compress does not fit into an index of PostgreSQL
		_, _ = rand.Read(noise)
		long := strings.Repeat("ж", 500) + hex.EncodeToString(noise)
		for i, email := range []string{long + "@example.org", long + "@example.com", "a\x00b@example.org"} {
			m := fullMessage(accountID)
			m.ProviderID, m.From.Email = strconv.Itoa(i), email
			save(t, s, m)
			seen, err := s.SenderSeen(t.Context(), m)
			require.NoError(t, err)
			require.False(t, seen)
			m.ReceivedAt = m.ReceivedAt.Add(time.Hour)
			m.ID = ""
			seen, err = s.SenderSeen(t.Context(), m)
			require.NoError(t, err)
			require.True(t, seen)
		}
	})
}

func TestSenderSeenUsesItsIndex(t *testing.T) {
	w := newBox(t)
	var plan []struct {
		ID, Parent, Notused int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), w.db.Reader(), &plan, "EXPLAIN QUERY PLAN "+sqlCountEarlier, w.account,
		"a@example.org", "2026", "x", 1))
	require.Contains(t, fmt.Sprint(plan), "messages_sender (account_id=? AND <expr>=? AND <expr><?)")
}
