package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

func trapQueue(t *testing.T, db *sqlite.DB) *queue.Queue {
	t.Helper()
	require.NoError(t, queue.Migrate(t.Context(), db))
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// "A transaction that reads, then writes, failed with BUSY_SNAPSHOT after 0 s, whatever busy_timeout said: write
// transactions begin IMMEDIATE, or are one statement".
func TestTrapBusySnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	first, second := openPath(t, path, nil), openPath(t, path, nil)
	createNotes(t, first)
	increase := func(ctx context.Context, tx *driver.WriteTx) error {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM notes").Scan(&n); err != nil {
			return err
		}
		return insertNote(ctx, tx, n)
	}

	deferred, err := sqlx.Open(sqlite.DriverName, path+"?_busy_timeout=10000")
	require.NoError(t, err)
	defer func() { require.NoError(t, deferred.Close()) }()
	trapped, err := deferred.Begin()
	require.NoError(t, err)
	var n int
	require.NoError(t, trapped.QueryRow("SELECT COUNT(*) FROM notes").Scan(&n))
	require.NoError(t, driver.Write(t.Context(), first, increase))
	_, err = trapped.Exec("INSERT INTO notes (n) VALUES (1)")
	code, _ := libsqlite.ErrorOf(err)
	require.EqualValues(t, 517, code, "the trap is there: SQLITE_BUSY_SNAPSHOT")
	require.NoError(t, trapped.Rollback())

	var writers sync.WaitGroup
	for _, db := range []*sqlite.DB{first, second} {
		for range 4 {
			writers.Go(func() {
				for range 10 {
					if err := driver.Write(t.Context(), db, increase); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	writers.Wait()
	require.Equal(t, 81, countNotes(t, first))
}

// "A context cancelled inside a transaction rolled it back so that the NEXT insert committed by itself. Writes run
// under a context that is not cancelled half way".
func TestTrapContextThatIsCanceledHalfWay(t *testing.T) {
	db := openFile(t, nil)
	createNotes(t, db)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		require.NoError(t, insertNote(ctx, tx, 0))
		ctx, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
		defer cancel()
		_, err := tx.ExecContext(ctx, `
INSERT INTO notes (n)
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300000)
SELECT n
FROM numbers`)
		require.ErrorIs(t, ctx.Err(), context.DeadlineExceeded, "it ended while the statement ran")
		return err
	}))
	require.Equal(t, 300_001, countNotes(t, db))
}

// "A 50 ms context returned after 2.01 s of busy waiting".
func TestTrapBusyWaitThatOutlastsTheDeadline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	other, db := openPath(t, path, nil), openPath(t, path, &sqlite.Config{BusyTimeout: 5 * time.Minute})
	release := hold(t, other)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	err := driver.Write(ctx, db, func(context.Context, *driver.WriteTx) error { return nil })
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Minute, "the busy timeout is 5 min")
	require.NoError(t, release())
}

// "One connection for everything deadlocks itself when a queue call is made inside an open transaction: one writer, N
// readers, and a variant of each call that takes the caller's transaction".
func TestTrapOneConnectionForEverything(t *testing.T) {
	db := openFile(t, nil)
	q := trapQueue(t, db)
	const greet queue.Type[int] = "greet"
	var inside queue.EnqueueResult
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
		_, err = q.Enqueue(ctx, greet.New(1, nil))
		require.ErrorIs(t, err, driver.ErrNestedWrite)
		_, err = q.Counts(ctx, queue.Filter{})
		require.NoError(t, err, "it reads on another connection")
		inside, err = q.EnqueueTx(ctx, tx, greet.New(1, nil))
		return err
	}))
	_, err := q.Job(t.Context(), inside.ID)
	require.NoError(t, err)
}

// "Shared cache answers LOCKED at once".
func TestTrapMemoryThatIsLocked(t *testing.T) {
	db := openMemory(t)
	createNotes(t, db)
	const notes = 300
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				var n int
				if err := db.Reader().Get(&n, "SELECT COUNT(*) FROM notes"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range notes {
		require.NoError(t, driver.Write(t.Context(), db,
			func(ctx context.Context, tx *driver.WriteTx) error { return insertNote(ctx, tx, i) }))
	}
	close(done)
	wg.Wait()
	require.Equal(t, notes, countNotes(t, db))
}

// SQLite says that a table is missing if it was created after the connection has read the schema, and the writer
// commits while it looks again.
func TestReadersInMemorySeeNewTables(t *testing.T) {
	db := openMemory(t)
	const tables = 300
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for n := int64(0); n < tables; n = made.Load() {
				if n == 0 {
					continue
				}
				var rows int
				if err := db.Reader().Get(&rows, fmt.Sprintf("SELECT COUNT(*) FROM notes%d", n)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range tables {
		require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("CREATE TABLE notes%d (n INTEGER)", i+1))
			return err
		}))
		made.Store(int64(i + 1))
	}
	wg.Wait()
}

// "`:memory:` with a pool: the second connection has no tables, and an idle close erases the first".
func TestTrapMemoryOfEachConnection(t *testing.T) {
	db := openMemory(t)
	createNotes(t, db)
	db.Reader().SetMaxIdleConns(-1) // each is closed at once
	for range 3 {
		require.Zero(t, countNotes(t, db))
	}
	for range 3 {
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT n FROM notes")
		require.NoError(t, err, "another connection each, while the others are open")
		defer func() { require.NoError(t, errors.Join(rows.Err(), rows.Close())) }()
	}
}

// "The same instant in another zone, or with trimmed trailing zeros, sorts wrongly as TEXT: one fixed width, UTC,
// everywhere".
func TestTrapTimesThatSortWronglyAsText(t *testing.T) {
	db := openFile(t, nil)
	q := trapQueue(t, db)
	base := time.Now().Add(time.Hour).Truncate(time.Second)
	instants := []time.Time{
		base.In(time.FixedZone("east", 14*3600)),
		base.Add(time.Nanosecond * 100_000_000).In(time.FixedZone("west", -12*3600)),
		base.Add(120 * time.Millisecond).UTC(),
		base.Add(120*time.Millisecond + time.Microsecond).In(time.FixedZone("half", 5*3600+1800)),
		base.Add(time.Second).Local(),
	}
	want := make([]string, len(instants))
	for i := len(instants) - 1; i >= 0; i-- {
		enqueued, err := q.Enqueue(t.Context(),
			queue.Type[int]("t").New(i, &queue.Options{NotBefore: instants[i], ExpiresAt: instants[i].Add(time.Hour)}))
		require.NoError(t, err)
		want[i] = enqueued.ID
	}
	result, err := db.Driver().Claim(t.Context(), driver.ClaimRequest{
		WorkerID: "w", Types: []driver.TypeCapacity{{Type: "t", Capacity: 10}}, Limit: 10,
		Now: base.Add(time.Minute).In(time.FixedZone("east", 14*3600)),
	})
	require.NoError(t, err)
	require.Equal(t, want, idsIn(result.Jobs))
	for _, column := range []string{"not_before", "expires_at", "created_at", "updated_at", "started_at"} {
		var texts []string
		require.NoError(t, db.Reader().Select(&texts, "SELECT "+column+" FROM jobs"))
		for _, text := range texts {
			_, err := time.Parse("2006-01-02T15:04:05.000000Z", text)
			require.NoError(t, err, column)
			require.Len(t, text, len("2006-01-02T15:04:05.000000Z"), column)
		}
	}
}

func idsIn(jobs []driver.Job) []string {
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	return ids
}

func idsOf(attempts []*queue.Attempt) []string {
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.Job.ID
	}
	return ids
}

// "200,000 rows: claiming over (state, priority, run-at) with future jobs in the way took 8.4 ms; with ready and future
// jobs kept apart, 75 us." What counts is what is looked at: an index without them, in its own order.
func TestTrapScheduledJobsInTheWay(t *testing.T) {
	const scheduled = 20_000
	db := openFile(t, &sqlite.Config{Durability: sqlite.Normal})
	q := trapQueue(t, db)
	batch := make([]queue.NewJob, scheduled)
	for i := range batch {
		batch[i] = queue.Type[int]("t").New(i,
			&queue.Options{Priority: 9, NotBefore: time.Now().Add(7 * 24 * time.Hour)})
	}
	_, err := q.EnqueueMany(t.Context(), batch)
	require.NoError(t, err)
	due, err := q.Enqueue(t.Context(), queue.Type[int]("t").New(1, nil))
	require.NoError(t, err)
	for _, analyzed := range []bool{false, true} {
		if analyzed {
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, "ANALYZE")
				return err
			}))
		}
		for name, statement := range sqlite.ClaimStatements {
			plan := planOf(t, db, statement)
			require.Regexp(t,
				"SEARCH jobs USING (COVERING )?INDEX jobs_(ready|waiting)|SEARCH job_heads USING COVERING INDEX job_heads_first",
				plan, name)
			require.NotContains(t, plan, "SCAN job", name)
			require.NotContains(t, plan, "INDEX jobs_scheduled", name)
			require.NotContains(t, plan, "TEMP B-TREE", name)
		}
	}
	var ready int
	require.NoError(t, db.Reader().Get(&ready,
		"SELECT COUNT(*) FROM jobs INDEXED BY jobs_ready WHERE state = 'queued' AND hold = 0"))
	require.Equal(t, 1, ready, "the index has what may be claimed, and nothing else")
	jobs, err := q.Claim(t.Context(), "w", []string{"t"}, 10)
	require.NoError(t, err)
	require.Equal(t, []string{due.ID}, idsOf(jobs))
}

func planOf(t *testing.T, db *sqlite.DB, statement string) string {
	t.Helper()
	var steps []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	// The parameters matter to no plan.
	rows, err := db.Reader().Queryx("EXPLAIN QUERY PLAN "+statement, make([]any, strings.Count(statement, "$"))...)
	require.NoError(t, err)
	require.NoError(t, sqlx.StructScan(rows, &steps))
	var plan strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&plan, s.Detail)
	}
	return plan.String()
}

// "RETURNING gives rows back in id order, not in the order of the ORDER BY inside: sort after it".
func TestTrapReturningInItsOwnOrder(t *testing.T) {
	for _, types := range [][]string{{"t"}, {"t", "u"}} {
		db := openFile(t, nil)
		q := trapQueue(t, db)
		var want []string
		for i := range 20 { // later ids are more urgent
			enqueued, err := q.Enqueue(t.Context(), queue.Type[int](types[i%len(types)]).New(i,
				&queue.Options{Priority: i}))
			require.NoError(t, err)
			want = append([]string{enqueued.ID}, want...)
		}
		jobs, err := q.Claim(t.Context(), "w", types, 20)
		require.NoError(t, err)
		require.Equal(t, want, idsOf(jobs))
	}
}

// "SQLite 3.7.0 to 3.51.2 can corrupt a WAL at reset: refuse or warn below 3.51.3 when the host brings its own driver".
func TestTrapSQLiteThatCorruptsItsLog(t *testing.T) {
	for version, fine := range map[string]bool{
		"3.7.0": false, "3.51.2": false, "3.51.3": true, "3.51.10": true, "3.53.4": true, "4.0.0": true, "3.9.9": false,
		"2.99.99": false,
	} {
		err := sqlite.CheckVersion(version)
		require.Equal(t, fine, err == nil, "%s: %v", version, err)
		if !fine {
			require.ErrorContains(t, err, "SQLite "+version+" can corrupt a write-ahead log; 3.51.3 or newer is needed")
		}
	}
}

// "The WAL grows without bound under a reader that never ends." Writers go on, Doctor tells, and once the reader ends
// the log is used anew and cut to its bound.
func TestTrapLogThatGrowsUnderAReader(t *testing.T) {
	const bound = 64 << 20
	path := filepath.Join(t.TempDir(), "test.db")
	db := openPath(t, path, &sqlite.Config{Durability: sqlite.Normal, SingleProcess: true})
	q := trapQueue(t, db)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE blobs (b BLOB)")
		return err
	}))
	replace := func() error {
		return driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
			_, err := tx.ExecContext(ctx, "DELETE FROM blobs")
			if err == nil {
				_, err = tx.ExecContext(ctx, "INSERT INTO blobs (b) VALUES (zeroblob(4000000))")
			}
			return err
		})
	}
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		require.NoError(t, err)
		return info.Size()
	}
	reader, err := db.Reader().BeginTxx(t.Context(), &sql.TxOptions{ReadOnly: true})
	require.NoError(t, err)
	var n int
	require.NoError(t, reader.Get(&n, "SELECT COUNT(*) FROM blobs"))
	for size() < bound+(8<<20) {
		require.NoError(t, replace())
	}
	require.NotContains(t, examined(t, q), "write-ahead log has")
	require.NoError(t, os.Truncate(path+"-wal", 300<<20)) // SQLite reads no further than what is valid
	require.Contains(t, examined(t, q),
		"warning: the write-ahead log has 300 MB (some connection reads in a transaction that does not end")

	require.NoError(t, reader.Rollback())
	for size() > bound { // the log is copied back meanwhile
		require.NoError(t, replace())
	}
	requireSound(t, db)
}

func examined(t *testing.T, q *queue.Queue) string {
	t.Helper()
	findings, err := queueadmin.Doctor(t.Context(), q)
	require.NoError(t, err)
	var text strings.Builder
	for _, f := range findings {
		fmt.Fprintln(&text, f)
	}
	return text.String()
}

// "The driver's default for synchronous is NORMAL: an acknowledged job can vanish with the power. Say which one
// promises what". "Foreign keys are off on each new connection until told otherwise".
func TestTrapDefaultsOfTheDriver(t *testing.T) {
	for name, c := range map[string]struct {
		cfg         *sqlite.Config
		synchronous int
	}{"by default": {nil, 2}, "normal": {&sqlite.Config{Durability: sqlite.Normal}, 1}} {
		t.Run(name, func(t *testing.T) {
			db := openFile(t, c.cfg)
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				for pragma, want := range map[string]any{"foreign_keys": int64(1), "journal_mode": "wal",
					"synchronous": int64(c.synchronous), "query_only": int64(0)} {
					var got any
					require.NoError(t, tx.QueryRowContext(ctx, "PRAGMA "+pragma).Scan(&got))
					require.Equal(t, want, got, pragma)
				}
				return nil
			}))
		})
	}
}
