package mailstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/uuid7"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const (
	// How many messages BenchmarkSearch stores. Default 10,000.
	benchMessages = "POSTROOM_BENCH_MESSAGES"
	// A folder that keeps the SQLite file of BenchmarkSearch for the next time. Default: it is made anew.
	benchFolder = "POSTROOM_BENCH_FOLDER"
	// A schema that keeps the PostgreSQL tables of BenchmarkSearch for the next time. Default: it is made anew.
	benchSchema = "POSTROOM_BENCH_SCHEMA"
)

// batch is how many messages are taken into the index at once.
const batch = 512

// benchStore is a store of n messages of ten years, with 80 words half a kilobyte of text each, one of them with the
// word needle.
type benchStore struct {
	*Store

	account string
	n       int
	words   int // of a message
	random  *rand.Rand
	zipf    *rand.Zipf
	vocab   []string
}

func newBenchStore(b testing.TB, db queue.DB, email string, n, words int) *benchStore {
	b.Helper()
	require.NoError(b, queue.Migrate(b.Context(), db))
	require.NoError(b, Migrate(b.Context(), db))
	s, err := New(Config{DB: db})
	require.NoError(b, err)
	random := rand.New(rand.NewPCG(1, 2))
	f := &benchStore{Store: s, n: n, words: words, random: random, zipf: rand.NewZipf(random, 1.1, 8, 100_000)}
	for i := range 100_001 {
		f.vocab = append(f.vocab, "w"+strconv.FormatInt(int64(i), 36))
	}
	require.NoError(b, s.db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		if f.account, err = s.EnsureAccount(ctx, tx, email, time.Time{}); err != nil {
			return err
		}
		return s.SaveLabel(ctx, tx, f.account, postroom.Label{ID: "Label_1", Name: "Work", Type: postroom.LabelUser})
	}))
	stored, err := s.CountMessages(b.Context(), f.account)
	require.NoError(b, err)
	if stored == 0 {
		begin := time.Now()
		for i := n; i > 0; i -= batch { // from the newest on, as a backfill has them
			f.fill(b, i, max(i-batch, 0))
		}
		b.Logf("filled in %v", time.Since(begin))
	}
	return f
}

func (f *benchStore) message(i int) *postroom.Message {
	words := make([]string, f.words)
	for w := range words {
		words[w] = f.vocab[f.zipf.Uint64()]
	}
	m := &postroom.Message{
		AccountID: f.account, ProviderID: fmt.Sprintf("%016x", i), MessageID: fmt.Sprintf("%d@example.org", i),
		Size:    int64(2000 + i%5000),
		From:    postroom.Address{Name: "Sender", Email: fmt.Sprintf("s%d@example%d.com", i%2000, i%50)},
		To:      []postroom.Address{{Email: "me@example.com"}},
		Subject: "about " + words[0] + " " + words[1], BodyPlain: strings.Join(words, " "),
		Snippet:    strings.Join(words[:10], " "),
		LabelIDs:   []string{"INBOX", "CATEGORY_UPDATES"},
		ReceivedAt: day.Add(-time.Duration(f.n-i) * (10 * 365 * 24 * time.Hour / time.Duration(f.n))),
	}
	if i == f.n/20 {
		m.BodyPlain += " needle"
	}
	if i%3 > 0 {
		m.LabelIDs = append(m.LabelIDs, "UNREAD")
	}
	if i%100 == 0 {
		m.LabelIDs = append(m.LabelIDs, "Label_1")
	}
	if i%5000 == 0 {
		m.Size = 5 << 20
	}
	if i%10 == 0 {
		m.Attachments = []postroom.Attachment{{Filename: "bill" + strconv.Itoa(i) + ".pdf", ContentType: "application/pdf"}}
	}
	return m
}

// fill stores messages from one number down to another.
func (f *benchStore) fill(b testing.TB, from, downTo int) {
	b.Helper()
	var messages, threads, waiting []any
	args := func(tx queue.Tx) {
		for i := from; i > downTo; i-- {
			m := f.message(i)
			id, err := uuid7.New()
			require.NoError(b, err)
			m.ThreadID = fmt.Sprintf("%s/thread%d", f.account, i/3)
			row, err := messageArgs(tx, id, m, 10)
			require.NoError(b, err)
			messages = append(messages, row...)
			waiting = append(waiting, f.account, id, m.ReceivedAt.Unix(), mailindex.Terms(b.Context(), m))
			if i%3 == 2 || i == from {
				now := dbtime.Of(day)
				threads = append(threads, m.ThreadID, f.account, m.ThreadID, m.Subject, m.Snippet,
					dbtime.Of(m.ReceivedAt), now, now)
			}
		}
	}
	require.NoError(b, f.db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
		args(tx)
		insert := func(table, columns string, all []any, each int) error {
			for len(all) > 0 {
				some := all[:min(len(all), 100*each)]
				_, err := tx.ExecContext(ctx, "INSERT INTO "+table+" ("+columns+") VALUES "+maildb.Values(len(some)/each, each)+
					" ON CONFLICT DO NOTHING", some...)
				if err != nil {
					return err
				}
				all = all[len(some):]
			}
			return nil
		}
		_, columns, _ := strings.Cut(sqlUpsertMessage, "(")
		columns, _, _ = strings.Cut(columns, ")")
		if err := insert("threads",
			"id, account_id, provider_thread_id, subject, snippet, last_message_at, created_at, updated_at", threads,
			8); err != nil {
			return err
		}
		if err := insert("messages", columns, messages, 24); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM unindexed_messages WHERE account_id = $1", f.account); err != nil {
			return err
		}
		return insert("unindexed_messages", "account_id, message_id, received, terms", waiting, 4)
	}))
	n, err := f.Index().Build(b.Context(), f.account)
	require.NoError(b, err)
	require.Equal(b, from-downTo, n)
}

// BenchmarkSearch reads the first page of 50, and in the last case the one in the middle of all.
func BenchmarkSearch(b *testing.B) {
	n := 10_000
	if text := os.Getenv(benchMessages); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(b, err)
	}
	b.Run("sqlite", func(b *testing.B) {
		db := dbtest.SQLite
		if folder := os.Getenv(benchFolder); folder != "" {
			db = func(t testing.TB) *sqlite.DB {
				kept, err := sqlite.Open(b.Context(), filepath.Join(folder, fmt.Sprintf("mail%d.db", n)), nil)
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, kept.Close()) })
				return kept
			}
		}
		benchmarkSearches(b, newBenchStore(b, db(b), "me@example.com", n, 80))
	})
	b.Run("postgres", func(b *testing.B) {
		db := dbtest.Postgres
		if schema := os.Getenv(benchSchema); schema != "" {
			db = func(t testing.TB) *postgres.DB { return dbtest.KeptPostgres(t, schema) }
		}
		benchmarkSearches(b, newBenchStore(b, db(b), "me@example.com", n, 80))
	})
}

func benchmarkSearches(b *testing.B, f *benchStore) {
	common, frequent := f.vocab[0], f.vocab[300]
	for _, q := range []string{
		"", "in:inbox", "label:work", "is:read", "needle", common, frequent, common + " " + frequent, "from:s77@example27.com", "subject:" + f.vocab[20],
		"subject:" + f.vocab[5000], "has:attachment older_than:5y", "larger:4M", "rfc822msgid:5@example.org", `"` + f.vocab[40] + " " + f.vocab[41] + `"`,
		"nowhere", "nowhere OR needle", "-needle", "-in:inbox", "label:work has:attachment " + frequent,
	} {
		b.Run("q="+q, func(b *testing.B) {
			var page mailindex.Page
			var err error
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				page, err = f.Search(b.Context(), f.account, mailindex.Search{Query: q})
				require.NoError(b, err)
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(len(page.Messages)), "found")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/1024, "KiB/op")
		})
	}
	b.Run("threads", func(b *testing.B) {
		for b.Loop() {
			page, err := f.SearchThreads(b.Context(), f.account, mailindex.Search{})
			require.NoError(b, err)
			require.Len(b, page.Threads, 50)
		}
	})
	b.Run("threads of a word", func(b *testing.B) {
		for b.Loop() {
			_, err := f.SearchThreads(b.Context(), f.account, mailindex.Search{Query: frequent})
			require.NoError(b, err)
		}
	})
	b.Run("a page in the middle", func(b *testing.B) {
		middle := ""
		for range f.n / 1000 {
			page, err := f.Search(b.Context(), f.account, mailindex.Search{Limit: 500, Cursor: middle})
			require.NoError(b, err)
			middle = page.Next
		}
		for b.Loop() {
			page, err := f.Search(b.Context(), f.account, mailindex.Search{Cursor: middle})
			require.NoError(b, err)
			require.Len(b, page.Messages, 50)
		}
	})
	// What a history sync does to the store for each change.
	b.Run("a label changes", func(b *testing.B) {
		history := uint64(time.Now().Unix())
		for b.Loop() {
			history++
			kind := map[bool]gmailapi.EventKind{true: gmailapi.LabelsAdded, false: gmailapi.LabelsRemoved}[history%2 == 0]
			require.NoError(b, f.db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
				event := gmailapi.HistoryEvent{
					HistoryID: history, Kind: kind, MessageID: fmt.Sprintf("%016x", f.random.IntN(f.n)+1),
					LabelIDs: []string{"STARRED"},
				}
				_, err := f.Copies().ChangeLabels(ctx, tx, f.account, event)
				return err
			}))
		}
	})
	b.Run("a message comes", func(b *testing.B) {
		for b.Loop() {
			m := f.message(f.random.IntN(f.n) + 1)
			m.ProviderID = "new" + strconv.FormatUint(f.random.Uint64(), 16)
			m.ProviderThreadID, m.ReceivedAt = m.ProviderID, day.Add(time.Minute)
			require.NoError(b, f.db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) error {
				if _, err := f.Progress().LockCursor(ctx, tx, f.account); err != nil {
					return err
				}
				_, err := f.SaveMessage(ctx, tx, m, 20)
				return err
			}))
		}
	})
}

// BenchmarkIndex takes messages into the index, 512 at a time, and reports the processor time for each: of mailboxes
// that got so many a year.
func BenchmarkIndex(b *testing.B) {
	for _, year := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(year), func(b *testing.B) { benchmarkIndex(b, 10*year) })
	}
}

func benchmarkIndex(b *testing.B, all int) {
	b.Helper()
	f := newBenchStore(b, dbtest.SQLite(b), "me@example.com", batch, 80)
	f.n = all
	cpu := func() time.Duration {
		var r syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	var terms, index time.Duration
	n := 0
	for b.Loop() {
		some, taken := make([]*postroom.Message, batch), make([][]byte, batch)
		begin := cpu()
		for i := range some {
			some[i] = f.message(f.n - n%f.n)
			some[i].ID = some[i].ProviderID
			taken[i] = mailindex.Terms(b.Context(), some[i])
			n++
		}
		terms += cpu() - begin
		require.NoError(b, f.db.Write(b.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
			for i, m := range some {
				err = errors.Join(err, f.Index().Add(ctx, tx, m, m.ReceivedAt.Unix(), taken[i]))
			}
			return err
		}))
		begin = cpu()
		_, err := f.Index().Build(b.Context(), f.account)
		require.NoError(b, err)
		index += cpu() - begin
	}
	b.ReportMetric(float64(terms.Microseconds())/float64(n), "make-cpu-µs/msg")
	b.ReportMetric(float64(index.Microseconds())/float64(n), "index-cpu-µs/msg")
}
