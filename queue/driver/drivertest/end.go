package drivertest

import (
	"context"
	"errors"
	"runtime"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// refusesToEnd runs the text in every way that there is.
func (s *suite) refusesToEnd(ctx context.Context, tx *driver.WriteTx, text string) {
	s.Helper()
	const advice = "return nil to commit"
	_, err := tx.ExecContext(ctx, text)
	require.ErrorContains(s, err, advice, text)
	rows, err := tx.QueryContext(ctx, text)
	require.ErrorContains(s, err, advice, text)
	if err == nil {
		defer func() { _ = rows.Close() }()
		require.NoError(s, rows.Err())
	}
	require.ErrorContains(s, tx.QueryRowContext(ctx, text).Scan(new(any)), advice, text)
}

// unwound runs fn on a goroutine of its own, which it may leave by a panic or by runtime.Goexit.
func unwound(fn func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		fn()
	}()
	<-done
}

// exits are the ways to leave a function without returning.
var exits = map[string]func(){"a panic": func() { panic(errUser) }, "runtime.Goexit": runtime.Goexit}

var endCases = []conformanceCase{
	{
		name:        "AtEnd/undoes everything when it panics or exits",
		explanation: "a function that checks what will be committed and does not return has not agreed to it",
		run: func(s *suite) {
			s.notes()
			for _, exit := range exits {
				unwound(func() {
					_ = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						tx.AtEnd(func(context.Context) error { exit(); return nil })
						tx.OnCommit(func() { s.Error("it has not committed") })
						return note(ctx, tx, "lost")
					})
				})
				require.Empty(s, s.noted())
			}
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return note(ctx, tx, "kept") })
			require.Equal(s, []string{"kept"}, s.noted())
		},
	},
	{
		name:        "AtEnd/calls what another function of it has registered",
		explanation: "a call that is made at the end may have something to do there too, as an audit log has",
		run: func(s *suite) {
			s.notes()
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				tx.AtEnd(func(context.Context) error {
					tx.AtEnd(func(context.Context) error { return errUser })
					return note(ctx, tx, "lost")
				})
				return nil
			})
			require.ErrorIs(s, err, errUser)
			require.Empty(s, s.noted())
		},
	},
	{
		name:        "OnCommit/calls the others when one panics or exits",
		explanation: "the transaction has committed: its jobs must be found, and whoever waits for its end must hear of it",
		run: func(s *suite) {
			s.notes()
			for way, exit := range exits {
				var called []int
				unwound(func() {
					_ = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						tx.OnCommit(func() { called = append(called, 1) })
						tx.OnCommit(exit)
						tx.OnCommit(func() { called = append(called, 2) })
						tx.OnRollback(func() { s.Error("it has committed") })
						return note(ctx, tx, way)
					})
				})
				require.Equal(s, []int{1, 2}, called, way)
				require.Contains(s, s.noted(), way)
			}
		},
	},
	{
		name:        "Write/runs no statement that commits",
		explanation: "what is written after it would commit by itself; the statement is refused with what to do instead, and the transaction goes on",
		run: func(s *suite) {
			s.notes()
			texts := []string{"COMMIT", " end transaction;", "/* x */ COMMIT", "-- x\nCOMMIT; BEGIN",
				"INSERT INTO notes (note) VALUES ('lost'); COMMIT"}
			if s.d.Dialect() == driver.Postgres {
				texts = append(texts, "COMMIT AND CHAIN", "COMMIT PREPARED 'x'", "PREPARE TRANSACTION 'x'",
					"/* /* */ */ COMMIT", "SELECT $q$;$q$, E'\\''; COMMIT")
			}
			for _, end := range []error{errUser, nil} {
				err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					require.NoError(s, note(ctx, tx, "before"))
					for _, text := range texts {
						s.refusesToEnd(ctx, tx, text)
					}
					return errors.Join(note(ctx, tx, "after"), end)
				})
				require.ErrorIs(s, err, end)
				if end != nil {
					require.Empty(s, s.noted())
				}
			}
			require.Equal(s, []string{"after", "before"}, s.noted())
		},
	},
	{
		name:        "Write/runs no statement that rolls back",
		explanation: "who has asked for a rollback must not have the rest committed: Write fails with the refusal, also when the function ignores it",
		run: func(s *suite) {
			s.notes()
			texts := []string{"ROLLBACK", "rollback transaction", "ROLLBACK; BEGIN", "/* TO s */ ROLLBACK",
				"INSERT INTO notes (note) VALUES ('lost'); ROLLBACK"}
			if s.d.Dialect() == driver.Postgres {
				texts = append(texts, "ABORT", "ROLLBACK AND CHAIN", "ROLLBACK WORK; BEGIN", "ROLLBACK PREPARED 'x'")
			}
			for _, text := range texts {
				for _, before := range []string{"", "before"} {
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						if before != "" {
							require.NoError(s, note(ctx, tx, before))
						}
						s.refusesToEnd(ctx, tx, text)
						require.Error(s, note(ctx, tx, "after"), text)
						return nil
					})
					require.ErrorContains(s, err, "return an error to roll back", text)
					require.Empty(s, s.noted(), text)
				}
			}
		},
	},
	{
		name:        "Write/undoes a part of it by a savepoint, and runs what only looks like an end",
		explanation: "statements are told apart by their first words, not by what stands in quotes, comments and bodies of functions",
		run: func(s *suite) {
			s.notes()
			texts := []string{"INSERT INTO notes (note) VALUES ('; COMMIT')",
				"INSERT INTO notes (note) VALUES ('x') /* ; ROLLBACK */; -- END"}
			if s.d.Dialect() == driver.Postgres {
				texts = append(texts, "DO $$ BEGIN INSERT INTO notes (note) VALUES ('y'); END $$",
					"CREATE FUNCTION pg_temp.one() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; END",
					"INSERT INTO notes (note) VALUES (E'\\'; COMMIT')")
			} else {
				texts = append(texts, "CREATE TRIGGER twice AFTER INSERT ON notes BEGIN SELECT 1; SELECT 2; END",
					"DROP TRIGGER twice")
			}
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				for _, text := range append(texts, "SAVEPOINT part", "INSERT INTO notes (note) VALUES ('undone')",
					"ROLLBACK TO SAVEPOINT part", "RELEASE part") {
					_, err := tx.ExecContext(ctx, text)
					require.NoError(s, err, text)
				}
				return nil
			})
			require.Subset(s, s.noted(), []string{"; COMMIT", "x"})
			require.NotContains(s, s.noted(), "undone")
		},
	},
}
