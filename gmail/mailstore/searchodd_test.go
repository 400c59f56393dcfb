package mailstore

import (
	"context"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/queue"
)

// Dates that no database has find what they say, and fail nowhere.
func TestSearchForOddDates(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := fullMessage(accountID)
		save(t, s, m)
		for query, finds := range map[string]bool{
			"after:0000/01/01": true, "after:0001/01/01": true, "after:0/1/1": false, "after:9999/12/31": false, "after:99999/01/01": false,
			"after:01/01/99999": false, "after:-1/01/01": false, "after:-5": false, "after:999999999999": false, "after:99999999999999999999": false,
			"after:253402300800": false, "after:253402300799": false, "after:10000/01/01": false,
			"before:0000/01/01": false, "before:0001/01/01": false, "before:9999/12/31": true, "before:99999/01/01": true,
			"before:1/1/99999": true, "before:10000/01/01": true, "before:0": false, "before:999999999999": true,
			"before:99999999999999999999": true, "before:1099511627776": true, "before:253402300800": true,
			"newer_than:1048576y": true, "newer_than:1048576m": true, "newer_than:1048576d": true, "newer_than:2026y": true,
			"older_than:1048576y": false, "older_than:2026y": false, "older_than:99999999y": false,
			"after:999999999999999999 grüße": false, "before:99999/01/01 grüße": true, "after:0000/01/01 grüße": true, "older_than:9999y grüße": false,
			"-after:0000/01/01": false, "-before:99999/01/01": false, "-after:99999/01/01": true, "-before:0000/01/01 in:inbox": true,
		} {
			for _, limit := range []int{1, 500} {
				page, err := s.Search(t.Context(), accountID, mailindex.Search{Query: query, Limit: limit})
				require.NoError(t, err, query)
				require.Equal(t, finds, len(page.Messages) == 1, "%s finds %d", query, len(page.Messages))
			}
			threads, err := s.SearchThreads(t.Context(), accountID, mailindex.Search{Query: query})
			require.NoError(t, err, query)
			require.Equal(t, finds, len(threads.Threads) == 1, query)
		}
	})
}

// Mail whose own dates are odd is stored, found and listed: a time that no database keeps is unknown.
func TestMailOfOddDates(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		years := []int{-4713, -1, 0, 1, 1969, 9999, 10000, 294277}
		for i, year := range years {
			m := fullMessage(accountID)
			m.ProviderID = fmt.Sprintf("m%d", i)
			m.ReceivedAt = time.Date(year, 6, 1, 12, 0, 0, 0, time.UTC)
			m.Date = m.ReceivedAt
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				_, err := s.SaveMessage(ctx, tx, m, 10)
				return err
			})
		}
		for _, indexed := range []bool{false, true} {
			if indexed {
				_, err := s.Index().Build(t.Context(), accountID)
				require.NoError(t, err)
			}
			for _, query := range []string{"", "grüße", "after:0000/01/01", "before:99999/01/01", "in:inbox"} {
				found := searchedAll(t, s, accountID, mailindex.Search{Query: query, Limit: 1})
				require.Len(t, found, len(years), "%q, indexed %t: %v", query, indexed, found)
			}
		}
		all := 0
		for _, err := range s.AllMessages(t.Context(), accountID,
			MessageRange{Since: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)}) {
			require.NoError(t, err)
			all++
		}
		require.Equal(t, len(years), all)
	})
}

// PostgreSQL refuses a NUL and invalid UTF-8 in a text. They reach no database, wherever they come from.
func TestBytesThatNoDatabaseTakes(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		m := fullMessage(accountID)
		m.MessageID, m.Subject, m.BodyPlain, m.BodyHTML = "1\x00\xff@example.org", "a\x00b \xff\xfe", "plain\x00text \xc3(",
			"<p>html\x00 \xed\xa0\x80</p>"
		m.From.Name, m.From.Email, m.Snippet = "Z\x00o", "z\xff@example.org", "\x00"
		m.InReplyTo, m.References = "\x00", []string{"\x00\xff"}
		m.To[0].Name, m.Headers[2].Value, m.Attachments[0].Filename = "\x00\xff", "<l\x00ist\xff>", "a\x00.pdf\xff"
		m.LabelIDs = append(m.LabelIDs, "Label\x00_\xff")
		m.ProviderThreadID = "t\x00\xff"
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.SaveMessage(ctx, tx, m, 10)
			return err
		})
		_, err := s.Index().Build(t.Context(), accountID)
		require.NoError(t, err)
		for query, finds := range map[string]bool{
			"\x00": true, "\xff": true, "a\x00b": true, "subject:\x00b": true, "\"plain\x00text\"": true, "from:\x00": true, "html\xff": true,
			"rfc822msgid:1\x00\xff@example.org": true, "rfc822msgid:\x00": false, "label:\x00": false, "label:\xff": false, "in:\x00\xff": false,
			"-label:\x00": true, "is:\x00": false, "has:\xff": false, "filename:a\x00.pdf": true, "list:\"l\x00ist\"": true, "after:\x00": false,
			"larger:\x001": false, "category:\xff": false, "newer_than:\xff": false, "from:(\x00 OR \xff)": true,
		} {
			page, err := s.Search(t.Context(), accountID, mailindex.Search{Query: query})
			require.NoError(t, err, "%q", query)
			require.Equal(t, finds, len(page.Messages) == 1, "%q finds %d", query, len(page.Messages))
		}
		for _, id := range []string{"\x00", "\xff"} {
			_, err := s.Search(t.Context(), id, mailindex.Search{})
			require.Error(t, err)
			require.NotContains(t, err.Error(), "SQLSTATE", "%q", id)
		}
	})
}

// A cursor that was made up is refused, and no database sees it.
func TestSearchCursorsAreChecked(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		for i := range 3 {
			m := fullMessage(accountID)
			m.ProviderID = fmt.Sprintf("m%d", i)
			save(t, s, m)
		}
		first, err := s.Search(t.Context(), accountID, mailindex.Search{Query: "grüße", Limit: 1})
		require.NoError(t, err)
		require.NotEmpty(t, first.Next)
		encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
		for name, search := range map[string]mailindex.Search{
			"year 0":           {Query: "grüße", Cursor: encode("0000-01-01T00:00:00.000000Z x")},
			"NUL":              {Query: "grüße", Cursor: encode("2026-01-01T00:00:00.000000Z \x00")},
			"no UTF-8":         {Query: "grüße", Cursor: encode("2026-01-01T00:00:00.000000Z \xff")},
			"long":             {Query: "grüße", Cursor: first.Next + encode(string(make([]byte, 1<<20)))},
			"cut":              {Query: "grüße", Cursor: first.Next[:len(first.Next)-1]},
			"another query":    {Query: "tag", Cursor: first.Next},
			"spam and trash":   {Query: "grüße", Cursor: first.Next, SpamAndTrash: true},
			"no query":         {Cursor: first.Next},
			"not its own size": {Query: "grüße", Cursor: first.Next, Limit: -1},
		} {
			_, err := s.Search(t.Context(), accountID, search)
			require.ErrorContains(t, err, "mailindex: Search.", name)
			_, err = s.SearchThreads(t.Context(), accountID, search)
			require.ErrorContains(t, err, "mailindex: Search.", name)
		}
		other := ensureAccount(t, s, "other@example.com")
		_, err = s.Search(t.Context(), other, mailindex.Search{Query: "grüße", Cursor: first.Next})
		require.ErrorIs(t, err, mailindex.ErrSearchCursor)
		second, err := s.Search(t.Context(), accountID, mailindex.Search{Query: "grüße", Limit: 500, Cursor: first.Next})
		require.NoError(t, err, "another size of page goes on")
		require.Len(t, second.Messages, 2)
	})
}

// A label that the account does not have finds nothing, and the page says which.
func TestSearchForLabelsThatWereNotSynced(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		save(t, s, fullMessage(accountID)) // with Label_1
		for query, want := range map[string]struct {
			found   int
			unknown []string
		}{
			"label:Foo":                      {0, []string{"foo"}},
			"in:Foo":                         {0, []string{"foo"}},
			"-label:Foo":                     {1, []string{"foo"}},
			"label:foo OR in:inbox":          {1, []string{"foo"}},
			"{label:b label:a label:b}":      {0, []string{"a", "b"}},
			"label:label-1":                  {0, []string{"label-1"}},
			"-label:label-1":                 {1, []string{"label-1"}},
			"in:inbox":                       {1, nil},
			"in:archive":                     {0, nil},
			"in:anywhere":                    {1, nil},
			"in:drafts":                      {0, nil},
			"is:starred category:promotions": {0, nil},
		} {
			page, err := s.Search(t.Context(), accountID, mailindex.Search{Query: query})
			require.NoError(t, err, query)
			require.Len(t, page.Messages, want.found, query)
			require.Equal(t, want.unknown, page.UnknownLabels, query)
			threads, err := s.SearchThreads(t.Context(), accountID, mailindex.Search{Query: query})
			require.NoError(t, err, query)
			require.Equal(t, want.unknown, threads.UnknownLabels, query)
		}
	})
}

func TestSearchSaysWhatIsProbablyASlip(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		want := []mailindex.Doubt{
			{Term: "is:unred", Reason: "the operator does not know it; no message has it", Meant: "is:unread"},
			{Term: "form:ann", Reason: "there is no such operator; it is searched for as words", Meant: "from:ann"},
		}
		page, err := s.Search(t.Context(), accountID, mailindex.Search{Query: "is:unred form:ann from:ann"})
		require.NoError(t, err)
		require.Equal(t, want, page.Doubts)
		threads, err := s.SearchThreads(t.Context(), accountID, mailindex.Search{Query: "is:unred form:ann from:ann"})
		require.NoError(t, err)
		require.Equal(t, want, threads.Doubts)
	})
}

// searchedAll returns Gmail's ids of all that a search finds, page by page.
func searchedAll(t *testing.T, s *Store, accountID string, search mailindex.Search) (ids []string) {
	t.Helper()
	for {
		page, err := s.Search(t.Context(), accountID, search)
		require.NoError(t, err)
		for _, m := range page.Messages {
			ids = append(ids, m.ProviderID)
		}
		if search.Cursor = page.Next; search.Cursor == "" {
			return ids
		}
	}
}
