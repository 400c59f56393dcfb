package mailstore

import (
	"cmp"
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/costtest"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A recordingDB notes what its readers ask.
type recordingDB struct {
	queue.DB

	reader *sqlx.DB

	mu    sync.Mutex
	asked []askedQuery
}

type askedQuery struct {
	text string
	args []any
}

func newRecordingDB(t *testing.T, db queue.DB) *recordingDB {
	t.Helper()
	r := &recordingDB{DB: db}
	r.reader = sqlx.NewDb(sql.OpenDB(recordingConn{r}), db.Reader().DriverName())
	t.Cleanup(func() { require.NoError(t, r.reader.Close()) })
	return r
}

func (r *recordingDB) Reader() *sqlx.DB { return r.reader }

// take returns what was asked since the last time.
func (r *recordingDB) take() []askedQuery {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := r.asked
	r.asked = nil
	return asked
}

// A recordingConn is a connector and a connection that hands queries on to the database's own reader.
type recordingConn struct{ db *recordingDB }

func (c recordingConn) Connect(context.Context) (sqldriver.Conn, error) { return c, nil }
func (c recordingConn) Driver() sqldriver.Driver                        { return nil }
func (c recordingConn) Close() error                                    { return nil }
func (c recordingConn) Prepare(string) (sqldriver.Stmt, error)          { return nil, io.ErrUnexpectedEOF }
func (c recordingConn) Begin() (sqldriver.Tx, error)                    { return nil, io.ErrUnexpectedEOF }

func (c recordingConn) QueryContext(ctx context.Context, query string, named []sqldriver.NamedValue) (sqldriver.Rows,
	error) {
	args := make([]any, len(named))
	for i, arg := range named {
		args[i] = arg.Value
	}
	c.db.mu.Lock()
	c.db.asked = append(c.db.asked, askedQuery{query, args})
	c.db.mu.Unlock()
	rows, err := c.db.DB.Reader().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	columns, err := rows.Columns()
	return handedRows{rows, columns}, err
}

// handedRows are the rows of one database/sql as those of a driver of another.
type handedRows struct {
	*sql.Rows

	columns []string
}

func (r handedRows) Columns() []string { return r.columns }

func (r handedRows) Next(dest []sqldriver.Value) error {
	if !r.Rows.Next() {
		if err := r.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	values, into := make([]any, len(dest)), make([]any, len(dest))
	for i := range into {
		into[i] = &values[i]
	}
	err := r.Scan(into...)
	for i, value := range values {
		dest[i] = value
	}
	return err
}

// plan returns the steps of a statement as the engine would take them.
func plan(t *testing.T, db queue.DB, q askedQuery) (steps []string) {
	t.Helper()
	if db.Dialect() == driver.Postgres {
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &steps, "EXPLAIN "+q.text, q.args...))
		return steps
	}
	var rows []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &rows, "EXPLAIN QUERY PLAN "+q.text, q.args...))
	for _, row := range rows {
		steps = append(steps, row.Detail)
	}
	return steps
}

var threadsRead = regexp.MustCompile(`Seq Scan on threads t  \(cost=0\.00\.\.(\d+)\.`)

// readsAll reports whether a step goes through the messages of all accounts or of one, their labels or threads, or
// the index. The messages that wait for the index are few.
func readsAll(step string) bool {
	if strings.Contains(step, "Bitmap Index Scan on messages_present") ||
		strings.Contains(step, "Bitmap Index Scan on messages_received") {
		return true // in no order
	}
	if cost := threadsRead.FindStringSubmatch(step); cost != nil && len(cost[1]) <= 3 {
		return false // the threads are so few that to look up a page of them would cost more, about 8 each
	}
	for _, table := range []string{"messages", "m", "message_labels", "message_terms", "threads", "t"} {
		if strings.Contains(step+" ", "Seq Scan on "+table+" ") || strings.HasPrefix(step+" ", "SCAN "+table+" ") {
			return true
		}
	}
	return false
}

// The statements of the usual searches, as they are asked, find what they read by an index, whether the engine has
// looked at the tables (ANALYZE) or not.
func TestSearchPlans(t *testing.T) {
	costtest.SkipUnderRace(t)
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		large := newBenchStore(t, db, "large@example.com", 15_000, 10)
		newBenchStore(t, db, "small@example.com", 4_000, 10)
		newBenchStore(t, db, "tiny@example.com", 1_000, 10)
		recording := newRecordingDB(t, db)
		s, err := New(Config{DB: recording})
		require.NoError(t, err)
		for _, analyzed := range []bool{false, true} {
			if analyzed {
				dbtest.Analyze(t, db)
			}
			for _, q := range usualSearches {
				searchTwoPages(t, s, large.account, q)
				asked := recording.take()
				require.NotEmpty(t, asked)
				slices.SortFunc(asked, func(a, b askedQuery) int { return cmp.Compare(a.text, b.text) })
				for _, one := range slices.CompactFunc(asked, func(a, b askedQuery) bool { return a.text == b.text }) {
					for _, step := range plan(t, db, one) {
						require.False(t, readsAll(step), "%q, analyzed %t: %s\n%s", q, analyzed, step, one.text)
					}
				}
			}
		}
	})
}

// PostgreSQL expects most messages to be neither in the spam nor in the trash: an engine that expects hardly any
// reads a large mailbox from end to end, and sorts it, for a page of the newest.
func TestPostgresExpectsToFillAPage(t *testing.T) {
	db := dbtest.Postgres(t)
	f := newBenchStore(t, db, "me@example.com", 1_000, 10)
	dbtest.Analyze(t, db)
	recording := newRecordingDB(t, db)
	s, err := New(Config{DB: recording})
	require.NoError(t, err)
	searchTwoPages(t, s, f.account, "")
	pages := 0
	for _, one := range recording.take() {
		if strings.Contains(one.text, inOrder) && !strings.Contains(one.text, "OFFSET") {
			pages++
			require.Regexp(t, `^Limit .*rows=100 `, plan(t, db, one)[0], one.text)
		}
	}
	require.GreaterOrEqual(t, pages, 2)
}

// inOrder is the end of the statement that reads messages in the order of a search.
const inOrder = "ORDER BY COALESCE(m.received_at, m.created_at) DESC, m.id DESC\nLIMIT "

// The labels of a page of messages are found by the messages' ids. SQLite would rather go through all messages of the
// account when there are many ids, and whatever is planned for many actions would be so for each page of them.
func TestCopiesAreFoundByTheirIDs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		f := newBenchStore(t, db, "me@example.com", 500, 10)
		var ids []string
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &ids, "SELECT id FROM messages LIMIT 100"))
		recording := newRecordingDB(t, db)
		s, err := New(Config{DB: recording})
		require.NoError(t, err)
		found, err := s.Copies().Labels(t.Context(), f.account, ids)
		require.NoError(t, err)
		require.Len(t, found, 100)
		for _, one := range recording.take() {
			steps := strings.Join(plan(t, db, one), "\n")
			require.NotContains(t, steps, "account_id=?")
			require.NotContains(t, steps, "messages_present")
		}
	})
}

var usualSearches = []string{
	"", "needle", "w8c", `"w1 w2"`, "from:s17", "from:s17@example17.com", "to:me", "subject:about", "label:work", "in:inbox", "is:unread", "is:read",
	"has:attachment", "filename:pdf", "after:2024/01/01", "before:2020/01/01", "after:2024/01/01 before:2024/03/01", "newer_than:5y",
	"larger:1M", "rfc822msgid:77@example.org", "in:anywhere needle", "-needle", "label:unknown",
	"from:s17 has:attachment", "label:work after:2022/01/01 w8c", `"w1 w2" label:work has:attachment`, "is:unread in:inbox w5 before:2021/01/01",
	"needle OR from:s17", "{label:work has:attachment} -is:unread", "subject:about -label:work newer_than:9y", "in:spam", "label:work OR -in:inbox",
}

func searchTwoPages(t *testing.T, s *Store, account, query string) {
	t.Helper()
	search := mailindex.Search{Query: query, Limit: 20}
	for range 2 {
		page, err := s.Search(t.Context(), account, search)
		require.NoError(t, err, query)
		_, err = s.SearchThreads(t.Context(), account, search)
		require.NoError(t, err, query)
		if search.Cursor = page.Next; search.Cursor == "" {
			return
		}
	}
}
