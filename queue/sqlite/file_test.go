package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// What happens to a file while it is open, and how it is undone.
var replacements = map[string]struct {
	does func(path, aside string) error
	undo func(path, aside string) error
	says string
}{
	"removed":     {does: remove(""), says: "was removed while it was open"},
	"log removed": {does: remove("-wal"), says: "test.db-wal was removed while it was open"},
	"moved away": {does: os.Rename, undo: func(path, aside string) error { return os.Rename(aside, path) },
		says: "was removed while it was open"},
	"truncated":    {does: truncate(0), says: "to 0 bytes while it was open"},
	"cut in half":  {does: truncate(2), says: "was truncated from"},
	"replaced":     {does: replace(""), says: "was replaced by another file while it was open"},
	"log replaced": {does: replace("-wal"), says: "test.db-wal was replaced by another file"},
	"folder is away": {
		does: func(path, aside string) error { return os.Rename(filepath.Dir(path), filepath.Dir(aside)+"/folder") },
		undo: func(path, aside string) error { return os.Rename(filepath.Dir(aside)+"/folder", filepath.Dir(path)) },
		says: "was removed while it was open",
	},
}

func remove(suffix string) func(path, aside string) error {
	return func(path, _ string) error { return os.Remove(path + suffix) }
}

func truncate(part int64) func(path, aside string) error {
	return func(path, _ string) error {
		info, err := os.Stat(path)
		if err != nil || part == 0 {
			return os.Truncate(path, 0)
		}
		return os.Truncate(path, info.Size()/part)
	}
}

func replace(suffix string) func(path, aside string) error {
	return func(path, aside string) error {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			return err
		}
		if err := os.WriteFile(aside, data, 0o600); err != nil {
			return err
		}
		return os.Rename(aside, path+suffix)
	}
}

// Jobs that are accepted into a file that nobody finds again are lost: they are refused, and Doctor says why.
func TestFileThatIsReplacedTakesNoJobs(t *testing.T) {
	for name, c := range replacements {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "database")
			require.NoError(t, os.Mkdir(folder, 0o700))
			path, aside := filepath.Join(folder, "test.db"), filepath.Join(t.TempDir(), "aside")
			first := openPath(t, path, nil)
			q := trapQueue(t, first)
			_, err := q.Enqueue(t.Context(), queue.Type[int]("t").New(0, nil))
			require.NoError(t, err)
			require.NoError(t, first.Close()) // so that the file has its pages
			db, err := sqlite.Open(t.Context(), path, &sqlite.Config{SingleProcess: true})
			require.NoError(t, err)
			defer func() { _ = db.Close() }() // of what is gone
			q, err = queue.New(db, nil)
			require.NoError(t, err)
			enqueue := func() error {
				_, err := q.Enqueue(t.Context(), queue.Type[int]("t").New(1, nil))
				return err
			}
			require.NoError(t, enqueue())

			require.NoError(t, c.does(path, aside))
			for range 3 {
				err := enqueue()
				require.ErrorIs(t, err, sqlite.ErrFileReplaced)
				require.ErrorContains(t, err, c.says)
			}
			_, err = q.Claim(t.Context(), "w", []string{"t"}, 1)
			require.ErrorIs(t, err, sqlite.ErrFileReplaced)
			if name != "truncated" && name != "cut in half" { // of which not all can be read
				require.Contains(t, examined(t, q), c.says)
			}
			if c.undo != nil {
				require.NoError(t, c.undo(path, aside))
				require.NoError(t, enqueue(), "it is the same file")
				require.NotContains(t, examined(t, q), c.says)
			}
		})
	}
}

// What happens to the file while a write is under way is noticed before that is said to be committed.
func TestFileThatIsReplacedDuringAWriteTakesNoJobs(t *testing.T) {
	for name, c := range replacements {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "database")
			require.NoError(t, os.Mkdir(folder, 0o700))
			path, aside := filepath.Join(folder, "test.db"), filepath.Join(t.TempDir(), "aside")
			first := openPath(t, path, nil)
			trapQueue(t, first)
			require.NoError(t, first.Close()) // so that the file has its pages
			db, err := sqlite.Open(t.Context(), path, &sqlite.Config{SingleProcess: true})
			require.NoError(t, err)
			defer func() { _ = db.Close() }() // of what is gone
			q, err := queue.New(db, nil)
			require.NoError(t, err)
			err = db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := q.EnqueueTx(ctx, tx, queue.Type[int]("t").New(1, nil))
				require.NoError(t, err)
				return c.does(path, aside)
			})
			require.ErrorIs(t, err, sqlite.ErrFileReplaced)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

func onWriter(t *testing.T, db *sqlite.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		_, err := sqlite.ExecOnWriter(db, statement)
		require.NoError(t, err, statement)
	}
}

// VACUUM makes the file smaller, and nothing is missing then.
func TestFileThatShrinksByItselfIsNoOtherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db, other := openPath(t, path, &sqlite.Config{SingleProcess: true}),
		openPath(t, path, &sqlite.Config{SingleProcess: true})
	q := trapQueue(t, db)
	onWriter(t, db, "CREATE TABLE blobs (b BLOB)")
	for i := range 3 {
		insert := fmt.Sprintf("INSERT INTO blobs (b) VALUES (zeroblob(%d))", 3_000_000+i)
		onWriter(t, db, insert, "PRAGMA wal_checkpoint(TRUNCATE)")
		_, err := q.Enqueue(t.Context(), queue.Type[int]("t").New(i, nil))
		require.NoError(t, err)
		large := size(t, path)
		onWriter(t, db, "DELETE FROM blobs")
		onWriter(t, other, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
		require.Less(t, size(t, path), large)
		_, err = q.Enqueue(t.Context(), queue.Type[int]("t").New(i, nil))
		require.NoError(t, err)
	}
	requireSound(t, db)
}

// The database has grown again since, in its log: pages that the file lacks are there.
func TestFileThatShrinksAndGrowsInItsLogIsNoOtherFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	idle, busy := openPath(t, path, nil), openPath(t, path, nil)
	q := trapQueue(t, idle)
	enqueue := func() error {
		_, err := q.Enqueue(t.Context(), queue.Type[int]("t").New(1, nil))
		return err
	}
	onWriter(t, busy, "CREATE TABLE blobs (b BLOB)", "INSERT INTO blobs (b) VALUES (zeroblob(1000000))",
		"PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, enqueue())
	large := size(t, path)
	onWriter(t, busy, "DELETE FROM blobs", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)",
		"INSERT INTO blobs (b) VALUES (zeroblob(1000000))")
	require.Less(t, size(t, path), large)
	require.NoError(t, enqueue())
	requireSound(t, idle)
}
