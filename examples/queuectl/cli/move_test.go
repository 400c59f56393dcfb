package cli

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/postgres"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// A place is a queue by the flags that name it, and by those that name it as the new one of a move.
type place struct{ flags, to string }

// fill enqueues 2 jobs.
func fill(t *testing.T, db queue.DB) {
	t.Helper()
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	_, err = q.EnqueueMany(t.Context(), []queue.NewJob{greet.New(1, nil), greet.New(2, nil)})
	require.NoError(t, err)
}

func moves(t *testing.T, from, to place) {
	t.Helper()
	ctl := func(line string) result { return run(t.Context(), strings.Fields(line)...) }
	require.Equal(t, 0, ctl("migrate up "+to.flags).status)
	r := ctl("move " + from.flags + " " + to.to)
	require.Equal(t, result{0, "moved 2 jobs, 0 keys and 0 schedules\n", ""}, r)
	require.Contains(t, ctl("list "+from.flags).out, "no jobs")
	require.Equal(t, 3, strings.Count(ctl("list "+to.flags).out, "\n"))
}

func TestAQueueIsMovedBetweenPrefixes(t *testing.T) {
	for name, c := range map[string]struct {
		from, to  string // prefixes
		otherFile bool
	}{
		"to plain names": {"mail_", "", true}, "from plain names": {"", "mail_", true}, "to another": {"mail_", "post_", true},
		"to the same": {"mail_", "mail_", true}, "within a file": {"mail_", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "app.db")
			db, err := sqlite.Open(t.Context(), path, &sqlite.Config{TablePrefix: c.from})
			require.NoError(t, err)
			require.NoError(t, queue.Migrate(t.Context(), db))
			fill(t, db)
			require.NoError(t, db.Close())
			to := path
			if c.otherFile {
				to = filepath.Join(t.TempDir(), "new.db")
				other, err := sqlite.Open(t.Context(), to, nil)
				require.NoError(t, err)
				require.NoError(t, other.Close())
			}
			moves(t, place{flags: "--database " + path + " --table-prefix=" + c.from},
				place{"--database " + to + " --table-prefix=" + c.to, "--to " + to + " --to-table-prefix=" + c.to})
		})
	}
}

func TestAQueueIsMovedBetweenSchemas(t *testing.T) {
	schema := func(dsn string) string {
		location, err := url.Parse(dsn)
		require.NoError(t, err)
		return location.Query().Get("search_path")
	}
	from, to := dbtest.PostgresDSN(t), dbtest.PostgresDSN(t)
	db, err := postgres.Open(t.Context(), from, nil)
	require.NoError(t, err)
	require.NoError(t, queue.Migrate(t.Context(), db))
	fill(t, db)
	require.NoError(t, db.Close())
	// Neither is on the search_path of the connection.
	dsn := dbtest.PostgresDSN(t)
	moves(t, place{flags: "--database " + dsn + " --schema " + schema(from)},
		place{"--database " + dsn + " --schema " + schema(to), "--to " + dsn + " --to-schema " + schema(to)})
}

func TestAMoveIsRefused(t *testing.T) {
	eachEngine(t, func(d *desk) {
		d.enqueue(2, nil)
		r := d.run("move --to " + d.dsn)
		require.Equal(d, ExitUsage, r.status)
		require.Contains(d, r.errors, "the queue of --to is the one of --database: nothing is moved")
		for _, batch := range []string{"-1", "0", "10001"} {
			r := d.run("move --to " + d.dsn + " --batch " + batch)
			require.Equal(d, ExitUsage, r.status)
			require.Contains(d, r.errors, "--batch is "+batch+"; it must be within 1 and 10000")
		}
		require.Equal(d, 3, strings.Count(d.did("list"), "\n"))
	})
}
