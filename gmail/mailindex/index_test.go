package mailindex_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A mailMaker makes messages and queries of few words, so that many of them meet.
type mailMaker struct {
	*rand.Rand

	t         *testing.T
	store     *mailstore.Store
	accountID string
	ids       []string // Gmail's
}

func (m *mailMaker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m *mailMaker) word() string {
	return m.one("ann", "bob", "Café", "cafe\u0301", "tea", "ann.bob", "com", "日本語", "本", "don't", "e-mail", "Straße",
		"١٢", "ＷＩＤＥ", "한국어",
		strings.Repeat("long", 90), "zero\u200bwidth", "x"+strconv.Itoa(m.IntN(40)))
}

func (m *mailMaker) words(upto int) string {
	some := make([]string, m.IntN(upto))
	for i := range some {
		some[i] = m.word()
	}
	return strings.Join(some, " ")
}

func (m *mailMaker) people() (people []postroom.Address) {
	for range m.IntN(3) {
		people = append(people, postroom.Address{Name: m.words(3), Email: m.one("ann", "bob", "x7") + "@" +
			m.one("example.com", "tea.example")})
	}
	return people
}

func (m *mailMaker) labels() (ids []string) {
	for _, id := range []string{"INBOX", "UNREAD", "Label_1", "Label_2", "SENT", "SPAM", "CATEGORY_PROMOTIONS"} {
		if m.IntN(4) == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

func (m *mailMaker) message(id string) *postroom.Message {
	msg := &postroom.Message{
		AccountID: m.accountID, ProviderID: id, ProviderThreadID: "t" + id[:2], MessageID: id + "@example.com",
		Subject: m.words(5),
		From:    postroom.Address{Name: m.words(2), Email: m.one("ann", "bob") + "@example.com"}, To: m.people(),
		Cc: m.people(), Bcc: m.people(),
		BodyPlain: m.words(12), LabelIDs: m.labels(), Size: int64(m.IntN(4000)),
		ReceivedAt: day.Add(-time.Duration(m.IntN(60*24*60*60*1000)) * time.Millisecond),
	}
	switch m.IntN(5) {
	case 0:
		msg.BodyHTML = "<p>" + m.words(6) + "<b>" + m.word() + "</b></p><a href='https://docs.google.com/document/1'>x</a>"
	case 1:
		msg.Attachments = []postroom.Attachment{{Filename: m.word() + ".pdf", Inline: m.IntN(2) == 0}}
	case 2:
		msg.Headers = []postroom.Header{{Name: "List-Id", Value: "<" + m.word() + ">"},
			{Name: "Delivered-To", Value: "me+" + m.word()}}
	case 3:
		msg.ReceivedAt = time.Time{} // when it was stored counts
	case 4:
		msg.ReceivedAt = day.Add(time.Duration(m.IntN(3)) * time.Second) // many in a second
	}
	return msg
}

func (m *mailMaker) query(depth int) string {
	if depth == 0 {
		switch m.IntN(11) {
		case 0:
			return `"` + m.word() + " " + m.word() + `"`
		case 1:
			return fmt.Sprintf("%s AROUND %d %s", m.word(), m.IntN(4), m.word())
		case 2:
			return m.one("in:inbox", "is:unread", "label:work", "has:userlabels", "has:nouserlabels", "is:read", "in:archive",
				"label:none", "in:spam",
				"category:promotions")
		case 3:
			return m.one("larger:1000", "smaller:3K", "larger:1M", "smaller:1M", "size:2048", "rfc822msgid:m017@example.com")
		case 4:
			return m.one("after:2026/02/20", "before:2026/02/25", "older_than:1y", "newer_than:5d")
		case 5:
			return m.one("has:attachment", "has:document", "has:drive", "is:muted")
		case 6, 7:
			return m.one("from:", "to:", "cc:", "bcc:", "subject:", "list:", "deliveredto:", "filename:") + m.word()
		default:
			return m.word()
		}
	}
	a, b := m.query(m.IntN(depth)), m.query(m.IntN(depth))
	switch m.IntN(5) {
	case 0:
		return "-(" + a + ")"
	case 1:
		return a + " OR " + b
	case 2:
		return "{" + a + " " + b + "}"
	case 3:
		return m.one("subject:", "from:", "") + "(" + a + " " + b + ")"
	default:
		return a + " " + b
	}
}

// Change does something to the mail that is stored.
func (m *mailMaker) change() {
	id := m.ids[m.IntN(len(m.ids))]
	write(m.t, m.store, func(ctx context.Context, tx queue.Tx) error {
		switch m.IntN(4) {
		case 0: // it comes again, with other words and at another time
			_, err := m.store.SaveMessage(ctx, tx, m.message(id), 10)
			return err
		case 1:
			_, err := m.store.Copies().MarkDeleted(ctx, tx, m.accountID, id)
			return err
		default:
			state, err := m.store.Copies().LockState(ctx, tx, m.accountID, id)
			if err != nil {
				return err
			}
			if m.IntN(2) == 0 { // also one that was deleted
				return m.store.Copies().ReplaceLabels(ctx, tx, m.accountID, state.ID,
					gmailapi.MessageState{Snapshot: postroom.NewSnapshot(m.labels()), HistoryID: 11})
			}
			_, err = m.store.Copies().ChangeLabels(ctx, tx, m.accountID, gmailapi.HistoryEvent{
				HistoryID: state.HistoryID + 1, Kind: gmailapi.LabelsRemoved, MessageID: id, LabelIDs: m.labels(),
			})
			return err
		}
	})
}

// judged returns what the query finds by its definition, newest first.
func (m *mailMaker) judged(q string, hidden bool) (ids []string) {
	m.t.Helper()
	query, err := gmailquery.Parse(q, gmailquery.Options{Now: time.Now(), Me: "me@example.com"})
	require.NoError(m.t, err)
	labels, err := m.store.Labels(m.t.Context(), m.accountID)
	require.NoError(m.t, err)
	for msg, err := range m.store.AllMessages(m.t.Context(), m.accountID, mailstore.MessageRange{}) {
		require.NoError(m.t, err)
		at := msg.ReceivedAt
		if at.IsZero() {
			at = time.Now() // when it was stored, just now
		}
		if !hidden && !query.Hidden && (msg.HasLabel(postroom.LabelSpam) || msg.HasLabel(postroom.LabelTrash)) {
			continue
		}
		if gmailquery.Match(query, mailindex.Document(labels, msg, at)) {
			ids = append(ids, msg.ProviderID)
		}
	}
	slices.Reverse(ids)
	return ids
}

func (m *mailMaker) searched(s mailindex.Search) (ids []string) {
	m.t.Helper()
	for {
		page, err := m.store.Search(m.t.Context(), m.accountID, s)
		require.NoError(m.t, err)
		for _, msg := range page.Messages {
			ids = append(ids, msg.ProviderID)
		}
		if s.Cursor = page.Next; s.Cursor == "" {
			return ids
		}
	}
}

// The index finds what the definition of a query, gmailquery.Match, finds, whatever has happened to the mail.
func TestTheIndexFindsWhatMatches(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		m := &mailMaker{Rand: rand.New(rand.NewPCG(9, 79)), t: t, store: s, accountID: accountID}
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			for _, l := range []postroom.Label{{ID: "Label_1", Name: "Work", Type: postroom.LabelUser},
				{ID: "Label_2", Name: "Rest", Type: postroom.LabelUser}} {
				if err := s.SaveLabel(ctx, tx, accountID, l); err != nil {
					return err
				}
			}
			return nil
		})
		save := func(n int) {
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				for range n {
					m.ids = append(m.ids, fmt.Sprintf("m%03d", len(m.ids)))
					if _, err := s.SaveMessage(ctx, tx, m.message(m.ids[len(m.ids)-1]), 10); err != nil {
						return err
					}
				}
				return nil
			})
		}
		some := 0
		for range 5 {
			save(12)
			for range 10 {
				m.change()
			}
			if m.IntN(3) > 0 {
				_, err := s.Index().Build(t.Context(), accountID)
				require.NoError(t, err)
				save(3)
			}
			for range 50 {
				q, hidden := m.query(3), m.IntN(2) == 0
				want := m.judged(q, hidden)
				require.Equal(t, want, m.searched(mailindex.Search{Query: q, SpamAndTrash: hidden, Limit: 5 + m.IntN(20)}), q)
				if len(want) > 0 && len(want) < len(m.ids) {
					some++
				}
			}
		}
		require.Greater(t, some, 80, "the queries find something, and not all")
	})
}

// indexed saves messages and indexes them.
func indexed(t *testing.T, s *mailstore.Store, n int, each func(i int, m *postroom.Message)) {
	t.Helper()
	accounts, err := s.Accounts(t.Context())
	require.NoError(t, err)
	write(t, s, func(ctx context.Context, tx queue.Tx) error {
		for i := range n {
			m := fullMessage(accounts[0].ID)
			m.ProviderID, m.ReceivedAt = fmt.Sprintf("m%05d", i), day.Add(time.Duration(i)*time.Minute)
			each(i, m)
			if _, err := s.SaveMessage(ctx, tx, m, 10); err != nil {
				return err
			}
		}
		return nil
	})
	got, err := s.Index().Build(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	require.Equal(t, n, got)
	got, err = s.Index().Build(t.Context(), accounts[0].ID)
	require.NoError(t, err)
	require.Zero(t, got, "all are indexed")
}

// A row that has grown large is left alone, and all rows of a bucket are read.
func TestTheIndexGoesOnInFurtherRows(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		begin := mailindex.BucketOf(day.Unix()) << mailindex.BucketBits
		indexed(t, s, 5*mailindex.IndexBatch, func(i int, m *postroom.Message) {
			m.Subject, m.BodyPlain, m.BodyHTML = "the same", fmt.Sprintf("number%d third%d", i, i%3), ""
			m.ReceivedAt = time.Unix(begin+int64(i*7919%(1<<mailindex.BucketBits)), 0) // in no order
		})
		require.NotZero(t, count(t, s, "message_terms WHERE part > 0"))
		m := &mailMaker{t: t, store: s, accountID: accountID}
		require.Len(t, m.searched(mailindex.Search{Query: "subject:same", Limit: 500}), 5*mailindex.IndexBatch)
		require.Len(t, m.searched(mailindex.Search{Query: "same third1 -number4", Limit: 500}), 5*mailindex.IndexBatch/3-1)
		require.Equal(t, []string{"m00005"}, m.searched(mailindex.Search{Query: "number5 same"}))
	})
}

// What was stored before there was an index is found before it is in it, while it is taken in, and afterwards.
func TestMailFromBeforeTheIndexIsFound(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		m := &mailMaker{t: t, store: s, accountID: accountID}
		indexed(t, s, 700, func(i int, m *postroom.Message) {
			m.Subject = map[bool]string{true: "needle", false: "hay"}[i%100 == 3]
		})
		want := m.searched(mailindex.Search{Query: "needle"})
		require.Len(t, want, 7)
		write(t, s, func(ctx context.Context, tx queue.Tx) error { // as a person repairs an index
			if _, err := tx.ExecContext(ctx, "DELETE FROM message_terms"); err != nil {
				return err
			}
			_,
				err := tx.ExecContext(ctx,
				"INSERT INTO unindexed_messages (account_id, message_id, received) SELECT account_id, id, "+
					seconds[s.DB().Dialect()]+" FROM messages")
			return err
		})
		require.Equal(t, want, m.searched(mailindex.Search{Query: "needle"}))
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			n, err := s.Index().IndexSome(ctx, tx, accountID)
			require.Equal(t, mailindex.IndexBatch, n)
			return err
		})
		require.Equal(t, want, m.searched(mailindex.Search{Query: "needle"}), "half way")
		n, err := s.Index().Build(t.Context(), accountID)
		require.NoError(t, err)
		require.Equal(t, 700-mailindex.IndexBatch, n)
		require.Equal(t, want, m.searched(mailindex.Search{Query: "needle"}))
		require.Equal(t, want, m.searched(mailindex.Search{Query: "needle", Limit: 2}))
	})
}

// seconds are those of a message on each database.
var seconds = map[driver.Dialect]string{
	driver.SQLite:   "CAST(strftime('%s', COALESCE(received_at, created_at)) AS INTEGER)",
	driver.Postgres: "FLOOR(EXTRACT(EPOCH FROM COALESCE(received_at, created_at)))::BIGINT",
}

func TestARemovedAccountLeavesNoWords(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		other := ensureAccount(t, s, "other@example.com")
		indexed(t, s, 3, func(_ int, m *postroom.Message) { m.AccountID = accountID })
		q, err := queue.New(s.DB(), nil)
		require.NoError(t, err)
		require.NoError(t, queue.Migrate(t.Context(), s.DB()))
		save(t, s, fullMessage(accountID))
		save(t, s, fullMessage(other))
		_, err = s.Index().Build(t.Context(), other)
		require.NoError(t, err)
		require.NoError(t, s.FinishRemoval(t.Context(), q, accountID))
		for _, table := range []string{"message_terms", "message_labels", "unindexed_messages"} {
			require.Zero(t, count(t, s, table+" WHERE account_id = '"+accountID+"'"), table)
		}
		m := &mailMaker{t: t, store: s, accountID: other}
		require.Equal(t, []string{"m1"}, m.searched(mailindex.Search{Query: "in:inbox guten"}))
	})
}

// The index follows the labels, whoever writes them.
func TestTheIndexFollowsTheLabels(t *testing.T) {
	eachStore(t, func(t *testing.T, s *mailstore.Store, accountID string) {
		save(t, s, fullMessage(accountID))
		labels := func(after string) {
			t.Helper()
			write(t, s, func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, "UPDATE messages SET "+after)
				return err
			})
		}
		found := &mailMaker{t: t, store: s, accountID: accountID}
		labels(`labels_json = '["STARRED", "STARRED"]', received_at = '2020-01-02T03:04:05.000000Z'`)
		require.Equal(t, 1, count(t, s, "message_labels WHERE label_id = 'STARRED'"))
		require.Equal(t, 1, count(t, s, "message_labels"))
		require.Equal(t, []string{"m1"}, found.searched(mailindex.Search{Query: "is:starred"}))
		require.Empty(t, found.searched(mailindex.Search{Query: "in:inbox"}))
		labels(`labels_json = 'null'`)
		require.Zero(t, count(t, s, "message_labels"))
		labels(`labels_json = '["INBOX"]'`)
		require.Equal(t, []string{"m1"}, found.searched(mailindex.Search{Query: "in:inbox"}))
		write(t, s, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM messages")
			return err
		})
		require.Zero(t, count(t, s, "message_labels"))
	})
}

// No statement of a search goes through all messages, or all rows of the index.
func TestSearchReadsIndexes(t *testing.T) {
	db := dbtest.SQLite(t)
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	const account = "some account"
	within := fmt.Sprintf(mailindex.SQLReceivedWithin, "$1", "$2", "$3")
	for name, c := range map[string]struct {
		statement string
		args      []any
		plan      string
	}{
		"postings":       {mailindex.SQLPostings, []any{account, 1, 7, 3}, "SEARCH message_terms USING PRIMARY KEY (account_id=? AND slot=? AND bucket>? AND bucket<?)"},
		"open postings":  {mailindex.SQLOpenPostings + "($3, $4)", []any{account, 1, 7, 3}, "SEARCH message_terms USING PRIMARY KEY (account_id=? AND slot=? AND bucket=? AND part=?)"},
		"label":          {mailindex.SQLLabeled, []any{account, "INBOX", "2026", 3}, "SEARCH message_labels USING PRIMARY KEY (account_id=? AND label_id=? AND at<?)"},
		"when received":  {"SELECT id, at FROM (" + within + " UNION ALL " + within + ") m ORDER BY at DESC, id DESC LIMIT 5", []any{account, "a", "b"}, "USING INDEX messages_received (account_id=? AND <expr>>? AND <expr><?)"},
		"newest":         {mailindex.SQLNewest, []any{account}, "INDEX messages_received (account_id=?)"},
		"waiting":        {mailindex.SQLUnindexed, []any{account, 5}, "SEARCH unindexed_messages USING PRIMARY KEY (account_id=?)"},
		"how many wait":  {mailindex.SQLCountUnindexed, []any{account, 5}, "SEARCH unindexed_messages USING PRIMARY KEY (account_id=?)"},
		"part that ends": {mailindex.SQLClosePostings, []any{account, 1, 7, []byte{}}, "SEARCH message_terms USING PRIMARY KEY (account_id=? AND slot=? AND bucket=?)"},
	} {
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+c.statement, c.args...),
			name)
		var steps []string
		for _, step := range plan {
			steps = append(steps, step.Detail)
			require.False(t, strings.HasPrefix(step.Detail, "SCAN messages") || strings.HasPrefix(step.Detail, "SCAN m "),
				"%s: %v", name, step.Detail)
		}
		require.Contains(t, strings.Join(steps, "\n"), c.plan, name)
	}
}

// The table fills and is emptied faster than PostgreSQL counts it. A plan for few rows must do for many.
func TestTheWaitingAreNotJoinedWithThemselves(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, mailstore.Migrate(t.Context(), db))
	var plan []string
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN "+mailindex.SQLTakeUnindexed,
		"some account", mailindex.IndexBatch))
	require.NotContains(t, strings.Join(plan, "\n"), "Join", "each message would be compared with each other")
}
