package mailstore

import (
	"context"
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
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
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
		require.False(t, seen(from(accountID, "", day)) || seen(from(accountID, "", day.Add(time.Hour))), "nobody is no sender")

		for i, email := range []string{"Max@bücher.example", "max@BÜCHER.example", "max@xn--bcher-kva.example", "MAX@bücher。Example", "max@XN--BCHER-KVA.example"} {
			require.Equal(t, i > 0, seen(from(accountID, email, day.Add(time.Duration(i)*time.Second))), email)
		}

		twins := []*postroom.Message{from(accountID, "twin@example.org", day), from(accountID, "twin@example.org", day)}
		require.NotEqual(t, seen(twins[0]), seen(twins[1]), "of two at the same time one is the first")
		require.True(t, seen(&postroom.Message{AccountID: accountID, From: postroom.Address{Email: "twin@example.org"}}), "neither stored nor with a time")

		_, err := s.SenderSeen(t.Context(), nil)
		require.ErrorContains(t, err, "the message is nil")
	})
}

// Senders of mail from before there were keys are known by all spellings after an upgrade.
func TestAnUpgradeMakesTheKeysOfSenders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s, m := storedBefore(t, db, "0017_", func(accountID string) *postroom.Message {
			m := fullMessage(accountID)
			m.From.Email = "Max@BÜCHER.example"
			return m
		})
		require.NoError(t, Migrate(t.Context(), db))
		require.NoError(t, Migrate(t.Context(), db))
		for _, email := range []string{"max@xn--bcher-kva.example", "max@bücher.example"} {
			seen, err := s.SenderSeen(t.Context(), &postroom.Message{AccountID: m.AccountID, From: postroom.Address{Email: email}})
			require.NoError(t, err)
			require.True(t, seen, email)
		}
	})
}

// A daemon from before there were keys may store messages beside this one. Their senders are known, and get their keys at the next start.
func TestSendersThatAnOlderDaemonStoresAreSeen(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		seen := func(email string, at time.Time) bool {
			t.Helper()
			seen, err := s.SenderSeen(t.Context(), &postroom.Message{AccountID: accountID, From: postroom.Address{Email: email}, ReceivedAt: at})
			require.NoError(t, err)
			return seen
		}
		for i, email := range []string{"Max@BÜCHER.example", "max@example。org", "Zoë@example.org", "ann@example.org"} {
			m := fullMessage(accountID)
			m.ProviderID, m.From.Email, m.ReceivedAt = strconv.Itoa(i), email, day
			save(t, s, m)
		}
		other := ensureAccount(t, s, "other@example.com")
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE messages SET from_key = NULL`)
			return err
		})
		for range 2 {
			for _, email := range []string{"max@xn--bcher-kva.example", "max@bücher.example", "MAX@example.org", "Zoë@EXAMPLE.org", "Ann@example.org"} {
				require.True(t, seen(email, day.Add(time.Second)), email)
				require.False(t, seen(email, day.Add(-time.Second)), email)
			}
			require.False(t, seen("max@buecher.example", day.Add(time.Second)))
			found, err := s.SenderSeen(t.Context(), &postroom.Message{AccountID: other, From: postroom.Address{Email: "max@bücher.example"}})
			require.NoError(t, err)
			require.False(t, found)
			require.NoError(t, Migrate(t.Context(), s.db))
			var without []string
			require.NoError(t, dbquery.Select(t.Context(), s.db.Reader(), &without, `SELECT from_email FROM messages WHERE from_key IS NULL`))
			require.Equal(t, []string{"ann@example.org"}, without)
		}
	})
}

// An address of any length and content is stored, and found.
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
	require.NoError(t, dbquery.Select(t.Context(), w.db.Reader(), &plan, "EXPLAIN QUERY PLAN "+sqlSenderSeen, w.account, "a@example.org", "2026", "x"))
	require.Contains(t, fmt.Sprint(plan), "messages_sender (account_id=? AND <expr>=? AND <expr><?)")
	require.NoError(t, dbquery.Select(t.Context(), w.db.Reader(), &plan, "EXPLAIN QUERY PLAN "+sqlUnkeyedSenders, w.account, "2026", "x"))
	require.Contains(t, fmt.Sprint(plan), "messages_unkeyed (account_id=?")
	require.NoError(t, dbquery.Select(t.Context(), w.db.Reader(), &plan, "EXPLAIN QUERY PLAN "+sqlUnkeyed, 1))
	require.Contains(t, fmt.Sprint(plan), "USING INDEX messages_unkeyed")
}
