package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

func TestOpenTakesAnyPath(t *testing.T) {
	for _, name := range []string{
		"plain.db", "with space.db", "a?b.db", "a#b.db", "100%.db", "%41.db", "a&vfs=memdb.db", "a;b=c.db",
		"ünïcödé.db", "file:x.db", "a'b\"c.db",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			db := openPath(t, path, nil)
			createNotes(t, db)
			require.Zero(t, countNotes(t, db))
			require.NoError(t, db.Close())
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NotZero(t, info.Size(), "the tables are in the file of that name")
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "mail is nobody else's business")
			entries, err := os.ReadDir(filepath.Dir(path))
			require.NoError(t, err)
			require.Len(t, entries, 1, "and in no other")
		})
	}
}

func TestOpenRelativePathOutlivesAChangeOfFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	db := openPath(t, "test.db", nil)
	createNotes(t, db)
	t.Chdir(t.TempDir())
	for range 3 { // more than the connections that are open by now
		rows, err := db.Reader().QueryContext(t.Context(), "SELECT n FROM notes")
		require.NoError(t, err)
		defer func() { require.NoError(t, errors.Join(rows.Err(), rows.Close())) }()
	}
}

func TestOpenRefuses(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text")
	require.NoError(t, os.WriteFile(text, []byte("this is no database, and long enough to be told from one"), 0o600))
	for name, c := range map[string]struct {
		path string
		cfg  *sqlite.Config
		err  string
	}{
		"memory":         {":memory:", nil, "use sqlite.OpenMemory"},
		"a URI":          {"file:jobs.db?_journal_mode=WAL", nil, "is a URI; give the path of the file"},
		"no path":        {"", nil, "the path is empty: name a file, or use sqlite.OpenMemory"},
		"a folder":       {folder, nil, "is a directory"},
		"no such folder": {filepath.Join(folder, "none", "x.db"), nil, "no such file or directory"},
		"another file":   {text, nil, "file is not a database"},
		"unknown promises": {filepath.Join(folder, "x.db"), &sqlite.Config{Durability: "OFF"},
			`Config.Durability is "OFF"`},
		"no readers": {filepath.Join(folder, "x.db"), &sqlite.Config{Readers: -1}, "Config.Readers is -1"},
		"too short a wait": {filepath.Join(folder, "x.db"), &sqlite.Config{BusyTimeout: time.Microsecond},
			"Config.BusyTimeout is 1µs"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sqlite.Open(t.Context(), c.path, c.cfg)
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestReaderRefusesToWrite(t *testing.T) {
	for name, db := range map[string]*sqlite.DB{"file": openFile(t, nil), "memory": openMemory(t)} {
		t.Run(name, func(t *testing.T) {
			createNotes(t, db)
			_, err := db.Reader().Exec("INSERT INTO notes (n) VALUES (1)")
			require.ErrorContains(t, err, "readonly")
			require.Zero(t, countNotes(t, db))
		})
	}
}

func TestCloseTwice(t *testing.T) {
	pool := openPool(t, filepath.Join(t.TempDir(), "pool.db")+asAsked)
	for name, db := range map[string]*sqlite.DB{"file": openFile(t, nil), "memory": openMemory(t),
		"pool": openOn(t, pool, nil)} {
		t.Run(name, func(t *testing.T) {
			createNotes(t, db)
			require.NoError(t, db.Close())
			require.NoError(t, db.Close())
		})
	}
}

func TestMemoriesAreApart(t *testing.T) {
	first, second := openMemory(t), openMemory(t)
	createNotes(t, first)
	createNotes(t, second)
	require.NoError(t, driver.Write(t.Context(), first,
		func(ctx context.Context, tx *driver.WriteTx) error { return insertNote(ctx, tx, 1) }))
	require.Equal(t, 1, countNotes(t, first))
	require.Zero(t, countNotes(t, second))
}
