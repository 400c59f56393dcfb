package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// halfWay leave a statement standing at a row, as callers do by mistake.
var halfWay = map[string]func(ctx context.Context, tx *driver.WriteTx) error{
	"executing what has rows": func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "SELECT n FROM notes ORDER BY n")
		return err
	},
	"executing what returns rows": func(ctx context.Context, tx *driver.WriteTx) error {
		res, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES (4), (5) RETURNING n")
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 2 {
			return fmt.Errorf("it says %d rows, %w", n, err)
		}
		if id, err := res.LastInsertId(); err != nil || id != 5 {
			return fmt.Errorf("it says the last is %d, %w", id, err)
		}
		return nil
	},
	"not closing rows": func(ctx context.Context, tx *driver.WriteTx) error {
		rows, err := tx.QueryContext(ctx, "SELECT n FROM notes ORDER BY n")
		rows.Next()
		return err
	},
	"not closing rows of a write": func(ctx context.Context, tx *driver.WriteTx) error {
		rows, err := tx.QueryContext(ctx, "INSERT INTO notes (n) VALUES (4), (5) RETURNING n")
		rows.Next()
		return err
	},
	"panicking over rows": func(ctx context.Context, tx *driver.WriteTx) error {
		rows, err := tx.QueryContext(ctx, "UPDATE notes SET n = n + 10 RETURNING n")
		rows.Next()
		panic(err)
	},
}

// Whatever a caller leaves open is closed at the end of its turn: those who come later can write, also when another
// process has written meanwhile.
func TestStatementsLeftHalfWayKeepNobodyFromWriting(t *testing.T) {
	for name, leave := range halfWay {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			db, other := openPath(t, path, &sqlite.Config{BusyTimeout: 200 * time.Millisecond}), openPath(t, path, nil)
			createNotes(t, db)
			insert := func(db *sqlite.DB, notes ...int) error {
				return driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) (err error) {
					for _, n := range notes {
						err = errors.Join(err, insertNote(ctx, tx, n))
					}
					return err
				})
			}
			require.NoError(t, insert(db, 1, 2, 3))
			func() {
				defer func() { _ = recover() }()
				require.NoError(t, driver.Write(t.Context(), db, leave))
			}()
			require.NoError(t, insert(other, 100))
			require.NoError(t, insert(db, 101))
			require.NoError(t, insert(other, 102))
		})
	}
}

// A Tx that is used when its Write has ended would write into the transaction of another, or into none.
func TestTxIsOfNoUseAfterItsWrite(t *testing.T) {
	db := openFile(t, nil)
	createNotes(t, db)
	var kept *driver.WriteTx
	use := func() {
		const over = "the transaction is over"
		require.ErrorContains(t, insertNote(t.Context(), kept, 2), over)
		_, err := kept.QueryContext(t.Context(), "INSERT INTO notes (n) VALUES (3) RETURNING n")
		require.ErrorContains(t, err, over)
		_, err = kept.QueryContext(t.Context(), "INSERT INTO notes (n) VALUES (4) RETURNING n")
		require.ErrorContains(t, err, over)
		var n int
		require.ErrorContains(t, kept.QueryRowContext(t.Context(),
			"INSERT INTO notes (n) VALUES (5) RETURNING n").Scan(&n), over)
	}
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		kept = tx
		tx.OnCommit(use)
		return insertNote(ctx, tx, 1)
	}))
	use()
	require.NoError(t, driver.Write(t.Context(), db, func(context.Context, *driver.WriteTx) error {
		use()
		return nil
	}))
	require.Equal(t, 1, countNotes(t, db))
}

// inGroup runs fn as a write that shares its transaction with another one.
func inGroup(t *testing.T, db *sqlite.DB, fn func(ctx context.Context, tx driver.Tx) error) (other, own error) {
	t.Helper()
	release := hold(t, db)
	result := make(chan error, 1)
	go func() { result <- db.Write(t.Context(), fn) }()
	synctest.Wait()
	other = release()
	return other, <-result
}

// Several callers share the transaction: none of them ends it for the others, or for itself, by any statement of a
// text.
func TestNobodyEndsTheTransactionOfOthers(t *testing.T) {
	for _, text := range []string{
		"ROLLBACK", "ROLLBACK; BEGIN", "ROLLBACK; BEGIN IMMEDIATE; INSERT INTO notes (n) VALUES (7)", "COMMIT",
		"COMMIT; BEGIN", " end ",
		"INSERT INTO notes (n) VALUES (7); COMMIT", "INSERT INTO notes (n) VALUES (7); end; begin immediate",
		"/* x */ COMMIT", "-- x\n COMMIT; BEGIN",
	} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openFile(t, &sqlite.Config{SingleProcess: true})
				createNotes(t, db)
				other, own := inGroup(t, db, func(ctx context.Context, tx driver.Tx) error {
					_, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES (8)")
					require.NoError(t, err)
					_, err = tx.ExecContext(ctx, text)
					return err
				})
				require.NoError(t, other)
				require.ErrorContains(t, own, "return nil to commit")
				require.Zero(t, countNotes(t, db))
			})
		})
	}
}

// What a text does not show SQLite reports. Whoever shares the transaction is told.
func TestAnEndThatTheTextDoesNotShow(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT $a('); ROLLBACK; --')":                           "the statement has ended the transaction, which is shared",
		"SELECT $a('); COMMIT; BEGIN; --')":                      "the statement has ended the transaction, which is shared",
		"\ufeffROLLBACK":                                         "the statement has ended the transaction, which is shared",
		"INSERT OR ROLLBACK INTO notes (n) VALUES (1), (2), (1)": "UNIQUE constraint failed",
	} {
		if strings.Contains(text, "$a") && sqlite.DriverName == "sqlite" {
			continue // modernc.org/sqlite refuses a parameter without a value
		}
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openFile(t, &sqlite.Config{SingleProcess: true})
				createNotes(t, db)
				other, own := inGroup(t, db, func(ctx context.Context, tx driver.Tx) error {
					_, err := tx.ExecContext(ctx, text)
					require.ErrorContains(t, err, want)
					_, again := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES (8)")
					require.ErrorContains(t, again, "rolled the transaction back")
					return err
				})
				require.ErrorContains(t, own, want)
				require.ErrorContains(t, other, "rolled the transaction back")
				require.Zero(t, countNotes(t, db))
				require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
					_, err := tx.ExecContext(ctx, "INSERT INTO notes (n) VALUES (1)")
					return err
				}))
				require.Equal(t, 1, countNotes(t, db))
			})
		})
	}
}

// What returns rows has written whether or not anybody looks at them.
func TestRowThatIsNeverScannedIsWritten(t *testing.T) {
	db := openFile(t, nil)
	createNotes(t, db)
	require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx driver.Tx) error {
		tx.QueryRowContext(ctx, "INSERT INTO notes (n) VALUES (1), (2) RETURNING n")
		tx.QueryRowContext(ctx, "SELECT n FROM notes")
		var n int
		require.NoError(t, tx.QueryRowContext(ctx, "UPDATE notes SET n = n + 10 WHERE n = 2 RETURNING n").Scan(&n))
		require.Equal(t, 12, n)
		require.ErrorIs(t, tx.QueryRowContext(ctx, "DELETE FROM notes WHERE n = 3 RETURNING n").Scan(&n), sql.ErrNoRows)
		require.ErrorContains(t, tx.QueryRowContext(ctx, "INSERT INTO notes (n) VALUES (1) RETURNING n").Scan(&n),
			"UNIQUE constraint failed")
		return nil
	}))
	require.Equal(t, 2, countNotes(t, db))
}

// A caller's goroutines may use its transaction side by side.
func TestTxIsSafeForTheGoroutinesOfItsFunction(t *testing.T) {
	const writers = 16
	db := openFile(t, nil)
	createNotes(t, db)
	require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO notes (n) VALUES (%d)", i)) // a statement of its own
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return nil
	}))
	require.Equal(t, writers, countNotes(t, db))
}

// What the function of one caller returns when it breaks the transaction says nothing to those who share it: they would
// take it for the loss of their own leases, or for the end of their own jobs.
func TestErrorsOfOneCallerAreNotThoseOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := openFile(t, nil)
		createNotes(t, db)
		release := hold(t, db)
		result := make(chan error, 1)
		go func() {
			result <- driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := tx.ExecContext(ctx, "INSERT OR ROLLBACK INTO notes (n) VALUES (1), (1)")
				return errors.Join(err, driver.ErrLeaseLost)
			})
		}()
		synctest.Wait()
		err := release()
		require.ErrorContains(t, err, "rolled the transaction back")
		require.ErrorContains(t, err, "UNIQUE constraint failed")
		require.NotErrorIs(t, err, driver.ErrLeaseLost)
		require.ErrorIs(t, <-result, driver.ErrLeaseLost)
	})
}
