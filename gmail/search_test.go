package gmail

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// search returns Gmail's ids of all that a search finds, page by page.
func (w *world) search(s Search) (ids []string) {
	w.t.Helper()
	for {
		page, err := w.store.Search(w.t.Context(), w.account, s)
		require.NoError(w.t, err)
		for _, m := range page.Messages {
			ids = append(ids, m.ProviderID)
		}
		if s.Cursor = page.Next; s.Cursor == "" {
			return ids
		}
	}
}

// searchable fills the mailbox and the store.
func (w *world) searchable() {
	w.t.Helper()
	bills := w.userLabel("Bills/Old stuff")
	mail := func(from, to, subject, more string) string {
		return fmt.Sprintf("From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n%s\r\n", from, to, subject, time.Now().Format(time.RFC1123Z), more)
	}
	w.arrive(mail("Zoë <zoe@example.org>", "me@example.com", "Grüße aus Köln", "\r\nGood day, the invoice is attached."), "INBOX", "UNREAD")
	w.arrive(mail("Ann <ann@shop.example.com>", "me@example.com, Bob <bob@example.net>", "Your invoice 17", "Cc: carl@example.net\r\nList-Id: <news.shop.example.com>\r\n\r\nPay soon"), "INBOX", bills)
	w.arrive(mail("ann@example.org", "you@example.com", "Holiday", "\r\nhttps://youtu.be/x invoice day good"), "STARRED", "SENT")
	w.arrive(richMail, "INBOX", "STARRED", bills)
	w.arrive(mail("spam@example.org", "me@example.com", "invoice invoice", "\r\nbuy"), "SPAM")
	w.arrive(mail("old@example.org", "me@example.com", "in the bin", "\r\ninvoice"), "TRASH")
	w.arrive(mail("html@example.org", "me@example.com", "Page", "Content-Type: text/html\r\n\r\n<p>Good <b>day</b>, invoice</p>"), "IMPORTANT")
	w.arriveOld("INBOX")
	w.cfg.SpamAndTrash = true
	w.run(NewBackfillJob(w.account, "", ""), NewLabelsSyncJob(w.account))
}

// What the store finds is what Gmail finds, in its order, on every database.
func TestSearchFindsWhatGmailFinds(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		w.searchable()
		for _, q := range []string{
			"", "invoice", "from:ann", "from:ann@example.org", "from:zoe", "from:example.org", "to:bob", "cc:carl", "subject:invoice",
			`"good day"`, `"day good"`, "grusse", "subject:(grüße köln)", "in:inbox", "-in:inbox", "is:unread", "is:read", "is:starred",
			"label:bills-old-stuff", "-label:bills-old-stuff", "label:unknown", "has:userlabels", "has:nouserlabels", "has:attachment",
			"-has:attachment", "filename:pdf", "filename:bill.pdf", "has:youtube", "larger:300", "smaller:300", "older_than:1y",
			"newer_than:2d", "after:2012/01/01", "before:2012/01/01", "in:spam", "in:trash", "in:anywhere invoice", "list:news.shop.example.com",
			"rfc822msgid:2@example.org", "from:ann invoice", "from:ann OR from:zoe", "{from:ann from:zoe} -invoice", "invoice -from:ann -is:unread",
			"good AROUND 3 invoice", "is:important", "from:nobody", "in:inbox -is:starred has:nouserlabels",
		} {
			for _, hidden := range []bool{false, true} {
				answer, err := w.google.Users.Messages.List("me").Q(q).IncludeSpamTrash(hidden).Do()
				require.NoError(t, err)
				var want []string
				for _, m := range answer.Messages {
					want = append(want, m.Id)
				}
				got := w.search(Search{Query: q, SpamAndTrash: hidden})
				require.ElementsMatch(t, want, got, "%q, spam and trash %t", q, hidden)
				require.Equal(t, got, w.search(Search{Query: q, SpamAndTrash: hidden, Limit: 1}), "%q page by page", q)
			}
		}
	})
}

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
		read := func(search Search) (all []*postroom.Message, pages int) {
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
		all, pages := read(Search{})
		require.Len(t, all, n)
		require.Equal(t, 5, pages)
		require.True(t, slices.IsSortedFunc(all, func(a, b *postroom.Message) int {
			if d := b.ReceivedAt.Compare(a.ReceivedAt); d != 0 {
				return d
			}
			return strings.Compare(b.ID, a.ID)
		}))
		for _, limit := range []int{1, 7, 100, 250, 500} {
			same, _ := read(Search{Limit: limit})
			require.Equal(t, all, same, limit)
		}
		rare, pages := read(Search{Query: "subject:rare"})
		require.Len(t, rare, 5)
		require.Equal(t, 1, pages)

		threads, err := s.SearchThreads(t.Context(), accountID, Search{Limit: 10})
		require.NoError(t, err)
		require.Len(t, threads.Threads, 10)
		again, err := s.SearchThreads(t.Context(), accountID, Search{Limit: 500})
		require.NoError(t, err)
		require.Equal(t, threads.Threads, again.Threads, "each once")
		require.Empty(t, again.Next)
		messages, err := s.ThreadMessages(t.Context(), accountID, threads.Threads[0].ID)
		require.NoError(t, err)
		require.Len(t, messages, n/10)
		require.True(t, messages[0].ReceivedAt.Before(messages[1].ReceivedAt))

		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := s.markDeleted(ctx, tx, accountID, "m001")
			return err
		})
		left, _ := read(Search{})
		require.Len(t, left, n-1)
	})
}

// Without the index a page reads a bounded number of messages, and the next one goes on.
func TestSearchForARareWordGoesOnPageByPage(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store, accountID string) {
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for i := range maxSearched + 10 {
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
		page, err := s.Search(t.Context(), accountID, Search{Query: "needle"})
		require.NoError(t, err)
		require.Empty(t, page.Messages)
		require.NotEmpty(t, page.Next)
		page, err = s.Search(t.Context(), accountID, Search{Query: "needle", Cursor: page.Next})
		require.NoError(t, err)
		require.Len(t, page.Messages, 1)
		require.Empty(t, page.Next)

		n, err := s.IndexMessages(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, maxSearched+10, n)
		page, err = s.Search(t.Context(), accountID, Search{Query: "needle"})
		require.NoError(t, err)
		require.Len(t, page.Messages, 1)
		require.Empty(t, page.Next)
	})
}

func TestSearchIsChecked(t *testing.T) {
	w := newWorld(t)
	for _, search := range []Search{{Limit: -1}, {Limit: 501}, {Cursor: "x"}, {Cursor: "eHh4"}, {Query: strings.Repeat("a ", 2000)}} {
		_, err := w.store.Search(t.Context(), w.account, search)
		require.ErrorContains(t, err, "gmail: Search.")
	}
	_, err := w.store.Search(t.Context(), "nobody", Search{})
	require.ErrorIs(t, err, postroom.ErrNotFound)
	messages, err := w.store.ThreadMessages(t.Context(), w.account, "none")
	require.NoError(t, err)
	require.Empty(t, messages)
}

// A page is read from where the one before has ended, in the order of an index.
func TestSearchReadsAnIndexInItsOrder(t *testing.T) {
	w := newWorld(t)
	for name, query := range map[string]string{"all": "", "no label": "-in:inbox -invoice"} {
		search := Search{Query: query}
		search.Cursor = searchCursor{day, "x"}.in(search.scope(w.account))
		run, err := w.store.index().newRun(t.Context(), w.account, search)
		require.NoError(t, err)
		filter := run.batchFilter()
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		statement := "EXPLAIN QUERY PLAN " + sqlSearch + filter.Where() + sqlSearchOrder + filter.Arg(searchBatch)
		require.NoError(t, dbquery.Select(t.Context(), w.db.Reader(), &plan, statement, filter.Args...))
		require.Contains(t, plan[0].Detail, "USING INDEX messages_received (account_id=? AND <expr><?)", name)
		for _, step := range plan {
			require.NotContains(t, step.Detail, "TEMP B-TREE", name)
		}
	}
}
