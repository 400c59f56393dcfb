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
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestSearchPagesAndOrder(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		const n = 250
		other := ensureAccount(t, s, "other@example.com")
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for i := range n {
				m := fullMessage(accountID)
				m.ProviderID, m.ProviderThreadID = fmt.Sprintf("m%03d", i), fmt.Sprintf("t%d", i%10)
				m.ReceivedAt = day.Add(time.Duration(i/2) * time.Minute) // two at a time
				m.Subject = map[bool]string{true: "rare", false: "usual"}[i%50 == 0]
				if _, err := s.SaveMessage(ctx, tx, m, 10); err != nil {
					return err
				}
			}
			m := fullMessage(other)
			_, err := s.SaveMessage(ctx, tx, m, 10)
			return err
		})
		read := func(search mailindex.Search) (all []*postroom.Message, pages int) {
			for {
				page, err := s.Search(t.Context(), accountID, search)
				require.NoError(t, err)
				all = append(all, page.Messages...)
				if search.Limit > 0 {
					require.LessOrEqual(t, len(page.Messages), search.Limit)
				}
				if pages++; page.Next == "" {
					return all, pages
				}
				search.Cursor = page.Next
			}
		}
		all, pages := read(mailindex.Search{})
		require.Len(t, all, n)
		require.Equal(t, 5, pages)
		require.True(t, slices.IsSortedFunc(all, func(a, b *postroom.Message) int {
			if d := b.ReceivedAt.Compare(a.ReceivedAt); d != 0 {
				return d
			}
			return strings.Compare(b.ID, a.ID)
		}))
		for _, limit := range []int{1, 7, 100, 250, 500} {
			same, _ := read(mailindex.Search{Limit: limit})
			require.Equal(t, all, same, limit)
		}
		rare, pages := read(mailindex.Search{Query: "subject:rare"})
		require.Len(t, rare, 5)
		require.Equal(t, 1, pages)

		threads, err := s.SearchThreads(t.Context(), accountID, mailindex.Search{Limit: 10})
		require.NoError(t, err)
		require.Len(t, threads.Threads, 10)
		again, err := s.SearchThreads(t.Context(), accountID, mailindex.Search{Limit: 500})
		require.NoError(t, err)
		require.Equal(t, threads.Threads, again.Threads, "each once")
		require.Empty(t, again.Next)
		messages, err := s.ThreadMessages(t.Context(), accountID, threads.Threads[0].ID)
		require.NoError(t, err)
		require.Len(t, messages, n/10)
		require.True(t, messages[0].ReceivedAt.Before(messages[1].ReceivedAt))

		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.Copies().MarkDeleted(ctx, tx, accountID, "m001")
			return err
		})
		left, _ := read(mailindex.Search{})
		require.Len(t, left, n-1)
	})
}

// searched is how many messages are read for a page.
const searched = 5000

// Without the index a page reads a bounded number of messages, and the next one goes on.
func TestSearchForARareWordGoesOnPageByPage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for i := range searched + 10 {
				m := fullMessage(accountID)
				m.ProviderID, m.BodyHTML, m.Headers = fmt.Sprintf("m%05d", i), "", nil
				m.Subject = map[bool]string{true: "needle", false: "hay"}[i == 3]
				m.ReceivedAt = day.Add(time.Duration(i) * time.Second)
				if _, err := s.SaveMessage(ctx, tx, m, 10); err != nil {
					return err
				}
			}
			return nil
		})
		page, err := s.Search(t.Context(), accountID, mailindex.Search{Query: "needle"})
		require.NoError(t, err)
		require.Empty(t, page.Messages)
		require.NotEmpty(t, page.Next)
		page, err = s.Search(t.Context(), accountID, mailindex.Search{Query: "needle", Cursor: page.Next})
		require.NoError(t, err)
		require.Len(t, page.Messages, 1)
		require.Empty(t, page.Next)

		n, err := s.Index().Build(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, searched+10, n)
		page, err = s.Search(t.Context(), accountID, mailindex.Search{Query: "needle"})
		require.NoError(t, err)
		require.Len(t, page.Messages, 1)
		require.Empty(t, page.Next)
	})
}

func TestSearchIsChecked(t *testing.T) {
	w := newBox(t)
	for _, search := range []mailindex.Search{{Limit: -1}, {Limit: 501}, {Cursor: "x"}, {Cursor: "eHh4"},
		{Query: strings.Repeat("a ", 2000)}} {
		_, err := w.store.Search(t.Context(), w.account, search)
		require.ErrorContains(t, err, "mailindex: Search.")
	}
	_, err := w.store.Search(t.Context(), "nobody", mailindex.Search{})
	require.ErrorIs(t, err, postroom.ErrNotFound)
	messages, err := w.store.ThreadMessages(t.Context(), w.account, "none")
	require.NoError(t, err)
	require.Empty(t, messages)
}

// A page is read from where the one before has ended, in the order of an index.
func TestSearchReadsAnIndexInItsOrder(t *testing.T) {
	db := dbtest.SQLite(t)
	f := newBenchStore(t, db, "me@example.com", 50, 10)
	recording := newRecordingDB(t, db)
	s, err := New(Config{DB: recording})
	require.NoError(t, err)
	for name, query := range map[string]string{"all": "", "no label": "-is:unread -invoice"} {
		first, err := s.Search(t.Context(), f.account, mailindex.Search{Query: query, Limit: 1})
		require.NoError(t, err)
		recording.take()
		_, err = s.Search(t.Context(), f.account, mailindex.Search{Query: query, Cursor: first.Next, Limit: 1})
		require.NoError(t, err)
		pages := 0
		for _, one := range recording.take() {
			if !strings.Contains(one.text, inOrder) {
				continue
			}
			pages++
			steps := plan(t, db, one)
			require.Contains(t, steps[0], "USING INDEX messages_received (account_id=? AND <expr><?)", name)
			for _, step := range steps {
				require.NotContains(t, step, "TEMP B-TREE", name)
			}
		}
		require.NotZero(t, pages, name)
	}
}
