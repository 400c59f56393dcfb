package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const note queue.Type[int] = "note"

// Two queues in a file, one of them under the plain names, or three tables of the program's own under those.
func TestQueuesWithPrefixesInOneFile(t *testing.T) {
	for name, first := range map[string]string{"plain": "", "both": "one_"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			one, two := queueAt(t, path, first), queueAt(t, path, "two_")
			if first != "" {
				require.NoError(t, one.DB().Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
					_, err := tx.ExecContext(ctx, "CREATE TABLE jobs (title TEXT); CREATE TABLE job_keys (title TEXT); "+
						"CREATE TABLE postroom_migrations (title TEXT)")
					return err
				}))
			}
			// What the transaction of either enqueues into the other goes there, and so does what the program's own does.
			for _, q := range []*queue.Queue{one, two} {
				require.NoError(t, q.DB().Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
					_, err := one.EnqueueTx(ctx, tx, note.New(1, &queue.Options{LimitKey: "l"}))
					require.NoError(t, err)
					_, err = two.EnqueueTx(ctx, tx, note.New(2, nil))
					require.NoError(t, err)
					_, err = tx.ExecContext(ctx, "INSERT INTO "+queue.Table(two.DB(), "job_enqueue")+
						" (type, payload) VALUES ('note', '3')")
					return err
				}))
			}
			pool, err := sql.Open(sqlite.DriverName, "file:"+path+"?_foreign_keys=1&_txlock=immediate&_busy_timeout=10000")
			require.NoError(t, err)
			defer func() { require.NoError(t, pool.Close()) }()
			tx, err := pool.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = two.EnqueueTx(t.Context(), tx, note.New(4, &queue.Options{Key: queue.Forever("k")}))
			require.NoError(t, err)
			require.NoError(t, tx.Commit())
			require.Equal(t, []int{1, 1}, ran(t, one))
			require.Equal(t, []int{2, 2, 3, 3, 4}, ran(t, two))
		})
	}
}

func queueAt(t *testing.T, path, prefix string) *queue.Queue {
	t.Helper()
	db := openPath(t, path, &sqlite.Config{Durability: sqlite.Normal, TablePrefix: prefix})
	require.NoError(t, queue.Migrate(t.Context(), db))
	require.NoError(t, queue.Migrate(t.Context(), db), "nothing is left to do")
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	return q
}

// ran returns the payloads of the jobs that a dispatcher of the queue ran, in order.
func ran(t *testing.T, q *queue.Queue) (payloads []int) {
	t.Helper()
	d, err := queue.NewDispatcher(q, &queue.DispatcherConfig{Workers: 1})
	require.NoError(t, err)
	queue.Handle(d, note, func(_ context.Context, w *queue.Work[int]) error {
		payloads = append(payloads, w.Payload)
		return nil
	})
	require.NoError(t, d.RunUntilIdle(t.Context()))
	slices.Sort(payloads)
	return payloads
}

func TestAPrefixThatIsNone(t *testing.T) {
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "test.db"), &sqlite.Config{TablePrefix: "My-"})
	require.ErrorContains(t, err, `sqlite: Config.TablePrefix is "My-"; it must be of lower-case letters`)
}

func TestAPrefixWithoutTables(t *testing.T) {
	db := openFile(t, &sqlite.Config{TablePrefix: "mail_"})
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.Enqueue(t.Context(), note.New(1, nil))
	require.ErrorContains(t, err, "call queue.Migrate first")
}

// Of two queues in a file, one goes without a trace.
func TestUninstallWithAPrefix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	stays := queueAt(t, path, "")
	dump := func() (all []string) {
		t.Helper()
		require.NoError(t, stays.DB().Reader().Select(&all,
			"SELECT name || COALESCE(sql, '') FROM sqlite_schema WHERE name <> 'sqlite_sequence' ORDER BY 1"))
		return all
	}
	before := dump()
	goes := queueAt(t, path, "job_")
	require.Len(t, dump(), 2*len(before))
	require.NoError(t, queueadmin.Uninstall(t.Context(), goes.DB(), nil))
	require.Equal(t, before, dump())
}
