package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

var errUser = errors.New("the user's function failed")

// notes makes a table of the user's own.
func (s *suite) notes() {
	s.Helper()
	s.write(func(ctx context.Context, tx *driver.WriteTx) error {
		_, err := tx.ExecContext(ctx, "CREATE TABLE notes (note TEXT NOT NULL PRIMARY KEY)")
		return err
	})
}

func note(ctx context.Context, tx *driver.WriteTx, text string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO notes (note) VALUES ($1)", text)
	return err
}

func (s *suite) noted() []string {
	s.Helper()
	out := []string{}
	require.NoError(s, s.d.Reader().Select(&out, "SELECT note FROM notes ORDER BY note"))
	return out
}

// refusesAll uses a transaction that has ended.
func (s *suite) refusesAll(tx *driver.WriteTx) {
	s.Helper()
	ctx := s.Context()
	_, err := s.d.Insert(ctx, tx, []driver.InsertJob{newJob()})
	require.ErrorIs(s, err, sql.ErrTxDone)
	many := make([]driver.InsertJob, 100)
	for i := range many {
		many[i] = newJob()
	}
	_, err = s.d.Insert(ctx, tx, many)
	require.ErrorIs(s, err, sql.ErrTxDone)
	require.ErrorIs(s, s.d.SetLimit(ctx, tx, driver.Target{Kind: driver.TargetType, Name: "t"},
		&driver.Limit{MaxRunning: 1}), sql.ErrTxDone)
	require.ErrorIs(s, note(ctx, tx, "late"), sql.ErrTxDone)
	var text string
	require.ErrorIs(s, tx.QueryRowContext(ctx, "SELECT note FROM notes").Scan(&text), sql.ErrTxDone)
	rows, err := tx.QueryContext(ctx, "SELECT note FROM notes")
	require.ErrorIs(s, err, sql.ErrTxDone)
	if err == nil {
		defer func() { _ = rows.Close() }()
		require.Error(s, rows.Err())
	}
}

// jobsAre counts all jobs.
func (s *suite) jobsAre(n int) {
	s.Helper()
	counts, err := s.d.Counts(s.Context(), driver.Filter{})
	require.NoError(s, err)
	sum := 0
	for _, count := range counts {
		sum += count
	}
	require.Equal(s, n, sum)
}

var writeCases = []conformanceCase{
	{
		name:        "Write/commits the user's writes and a job together",
		explanation: "a job and what it is about exist both or not at all",
		run: func(s *suite) {
			s.notes()
			kept, lost := newJob(), newJob()
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := s.d.Insert(ctx, tx, []driver.InsertJob{kept})
				return errors.Join(err, note(ctx, tx, "kept"))
			})
			err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				_, err := s.d.Insert(ctx, tx, []driver.InsertJob{lost})
				return errors.Join(err, note(ctx, tx, "lost"), errUser)
			})
			require.ErrorIs(s, err, errUser)
			require.Equal(s, []string{"kept"}, s.noted())
			require.Equal(s, driver.StateQueued, s.state(kept.ID))
			_, err = s.d.Job(s.Context(), lost.ID)
			require.ErrorIs(s, err, driver.ErrJobNotFound)
		},
	},
	{
		name:        "Write/binds parameters by their numbers",
		explanation: "SQLite numbers $2 and $1 by their first appearance: values would be swapped without an error",
		run: func(s *suite) {
			s.notes()
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				const text = "SELECT CAST($2 AS TEXT) || ' $1 ' || CAST($1 AS TEXT)"
				var got, again string
				if err := tx.QueryRowContext(ctx, text, "one", "two").Scan(&got); err != nil {
					return err
				}
				require.Equal(s, "two $1 one", got)
				rows, err := tx.QueryContext(ctx, text, "one", "two")
				require.NoError(s, err)
				defer rows.Close()
				require.True(s, rows.Next())
				require.NoError(s, rows.Scan(&again))
				require.NoError(s, errors.Join(rows.Close(), rows.Err()))
				require.Equal(s, got, again)
				_, err = tx.ExecContext(ctx, "INSERT INTO notes (note) SELECT CAST($2 AS TEXT) WHERE CAST($1 AS TEXT) = 'a'",
					"a", "b")
				return err
			})
			require.Equal(s, []string{"b"}, s.noted())
		},
	},
	{
		name:        "Write/commits the user's writes and a completion together",
		explanation: "a handler's effect and the end of its job are one: neither is there without the other",
		run: func(s *suite) {
			s.notes()
			job := s.started()
			end := func(ctx context.Context, tx *driver.WriteTx) error {
				answers, err := s.d.Finish(ctx, tx, []driver.Outcome{completed(job.Lease())})
				return errors.Join(err, answers[0], note(ctx, tx, "effect"))
			}
			err := driver.Write(s.Context(), s.d,
				func(ctx context.Context, tx *driver.WriteTx) error { return errors.Join(end(ctx, tx), errUser) })
			require.ErrorIs(s, err, errUser)
			require.Equal(s, driver.StateRunning, s.state(job.ID))
			require.Empty(s, s.noted())

			s.write(end)
			require.Equal(s, driver.StateCompleted, s.state(job.ID))
			require.Equal(s, []string{"effect"}, s.noted())
		},
	},
	{
		name:        "Write/undoes what a panic interrupts, and lets it through",
		explanation: "a panic in the function is the caller's to recover, with nothing written and the database usable",
		run: func(s *suite) {
			s.notes()
			require.PanicsWithError(s, errUser.Error(), func() {
				_ = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					require.NoError(s, note(ctx, tx, "lost"))
					panic(errUser)
				})
			})
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return note(ctx, tx, "kept") })
			require.Equal(s, []string{"kept"}, s.noted())
		},
	},
	{
		name:        "Write/undoes what runtime.Goexit interrupts",
		explanation: "a failed assertion inside the function ends its goroutine, and nothing else",
		run: func(s *suite) {
			s.notes()
			var wg sync.WaitGroup
			wg.Go(func() {
				_ = driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					require.NoError(s, note(ctx, tx, "lost"))
					runtime.Goexit()
					return nil
				})
			})
			wg.Wait()
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return note(ctx, tx, "kept") })
			require.Equal(s, []string{"kept"}, s.noted())
		},
	},
	{
		name:        "Write/refuses to nest",
		explanation: "a write begun with the context of another would wait for itself",
		run: func(s *suite) {
			s.write(func(ctx context.Context, _ *driver.WriteTx) error {
				err := driver.Write(ctx, s.d, func(context.Context, *driver.WriteTx) error { return nil })
				require.ErrorIs(s, err, driver.ErrNestedWrite)
				_, err = s.d.Claim(ctx, driver.ClaimRequest{WorkerID: "w", Types: capacities([]string{"t"}, 1000),
					Limit: 1, Now: s.now()})
				require.ErrorIs(s, err, driver.ErrNestedWrite)
				return nil
			})
		},
	},
	{
		name:        "Write/refuses to nest under another context",
		explanation: "the same goroutine would wait for itself, or write what a rollback does not undo; a context of the program's own does not show it",
		run: func(s *suite) {
			s.notes()
			other := newJob()
			nested := func(context.Context, *driver.WriteTx) error {
				err := driver.Write(context.Background(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					_, err := s.d.Insert(ctx, tx, []driver.InsertJob{other})
					return err
				})
				require.ErrorIs(s, err, driver.ErrNestedWrite)
				_, err = s.d.Heartbeat(s.Context(), driver.HeartbeatRequest{WorkerID: "w", First: true, Now: s.now()})
				require.ErrorIs(s, err, driver.ErrNestedWrite)
				return errUser
			}
			require.ErrorIs(s, driver.Write(s.Context(), s.d, nested), errUser)
			_, err := s.d.Job(s.Context(), other.ID)
			require.ErrorIs(s, err, driver.ErrJobNotFound)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return note(ctx, tx, "usable") })
			require.Equal(s, []string{"usable"}, s.noted())
		},
	},
	{
		name:        "Write/lets other goroutines wait for their turn",
		explanation: "only the goroutine that is inside a write is refused another; all others wait, however long it lasts",
		run: func(s *suite) {
			s.notes()
			inside, others := make(chan struct{}), sync.WaitGroup{}
			for range 8 {
				others.Go(func() {
					<-inside
					err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
						_, err := s.d.Insert(ctx, tx, []driver.InsertJob{newJob()})
						return err
					})
					if err != nil {
						s.Errorf("a write beside another one: %v", err)
					}
				})
			}
			err := driver.Write(s.Context(), s.d, func(context.Context, *driver.WriteTx) error {
				close(inside)
				return driver.Write(s.Context(), s.d, func(context.Context, *driver.WriteTx) error { return nil })
			})
			require.ErrorIs(s, err, driver.ErrNestedWrite)
			others.Wait()
		},
	},
	{
		name:        "Write/refuses what comes after its end",
		explanation: "a Tx that is kept must not accept a job that nobody commits",
		run: func(s *suite) {
			s.notes()
			var kept *driver.WriteTx
			keep := func(_ context.Context, tx *driver.WriteTx) error {
				kept = tx
				return nil
			}
			s.write(keep)
			s.refusesAll(kept)
			require.ErrorIs(s, driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
				kept = tx
				return errUser
			}), errUser)
			s.refusesAll(kept)
			require.Empty(s, s.noted())
			s.jobsAre(0)
		},
	},
	{
		name:        "Write/is shared by goroutines, and outlived by none",
		explanation: "whatever is accepted is stored, whichever goroutine hands it in, and what comes too late is refused",
		run: func(s *suite) {
			const goroutines, each = 20, 20
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				var wg sync.WaitGroup
				for range goroutines {
					wg.Go(func() {
						for i := range each {
							job := newJob()
							job.Key = driver.Key{}
							if i%5 == 0 {
								job.Key = driver.Key{Name: job.ID, Scope: driver.KeyForever}
							}
							if _, err := s.d.Insert(ctx, tx, []driver.InsertJob{job}); err != nil {
								s.Errorf("a job of a goroutine of many: %v", err)
							}
						}
					})
				}
				wg.Wait()
				return nil
			})
			s.jobsAre(goroutines * each)

			accepted := 0
			var mu sync.Mutex
			var wg sync.WaitGroup
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				for range 100 {
					wg.Go(func() {
						_, err := s.d.Insert(ctx, tx, []driver.InsertJob{newJob()})
						mu.Lock()
						defer mu.Unlock()
						if err == nil {
							accepted++
						} else if !errors.Is(err, sql.ErrTxDone) {
							s.Errorf("a job that came too late: %v", err)
						}
					})
				}
				return nil
			})
			wg.Wait()
			s.jobsAre(goroutines*each + accepted)
		},
	},
	{
		name:        "Write/runs OnCommit after the commit, and only then",
		explanation: "what is reported to others must be there when they look, and must not be reported when it was undone",
		run: func(s *suite) {
			s.notes()
			var seen []string
			s.write(func(ctx context.Context, tx *driver.WriteTx) error {
				tx.OnCommit(func() { seen = s.noted() })
				return note(ctx, tx, "there")
			})
			require.Equal(s, []string{"there"}, seen)

			called := false
			err := driver.Write(s.Context(), s.d, func(_ context.Context, tx *driver.WriteTx) error {
				tx.OnCommit(func() { called = true })
				return errUser
			})
			require.ErrorIs(s, err, errUser)
			require.False(s, called)
		},
	},
	{
		name:        "Write/is refused when the function has ended the transaction by itself",
		explanation: "what is written after the user's own ROLLBACK would commit by itself, and what was written before it is lost: Write must not say that all is well",
		run: func(s *suite) {
			s.notes()
			job := newJob()
			for after, then := range map[string]func(ctx context.Context, tx *driver.WriteTx) error{
				"nothing": func(context.Context, *driver.WriteTx) error { return nil },
				"a statement of the user": func(ctx context.Context, tx *driver.WriteTx) error {
					require.Error(s, note(ctx, tx, "after"))
					return nil
				},
				"a query of the user": func(ctx context.Context, tx *driver.WriteTx) error {
					var text string
					require.Error(s, tx.QueryRowContext(ctx,
						"INSERT INTO notes (note) VALUES ('after') RETURNING note").Scan(&text))
					return nil
				},
				"a job": func(ctx context.Context, tx *driver.WriteTx) error {
					_, _ = s.d.Insert(ctx, tx, []driver.InsertJob{job})
					return nil
				},
				"a look at a job": func(ctx context.Context, tx *driver.WriteTx) error {
					require.Error(s, s.d.Retry(ctx, tx, job.ID))
					return nil
				},
			} {
				err := driver.Write(s.Context(), s.d, func(ctx context.Context, tx *driver.WriteTx) error {
					require.NoError(s, note(ctx, tx, "before"))
					_, _ = tx.ExecContext(ctx, "ROLLBACK") // it may say so at once
					return then(ctx, tx)
				})
				require.Error(s, err, after)
				require.Empty(s, s.noted(), after)
			}
			_, err := s.d.Job(s.Context(), job.ID)
			require.ErrorIs(s, err, driver.ErrJobNotFound)
			s.write(func(ctx context.Context, tx *driver.WriteTx) error { return note(ctx, tx, "usable") })
			require.Equal(s, []string{"usable"}, s.noted())
		},
	},
	{
		name:        "Write/does not begin under a context that is done, and is not interrupted once begun",
		explanation: "a write cancelled half way could be rolled back while the function goes on writing by itself",
		run: func(s *suite) {
			s.notes()
			ctx, cancel := context.WithCancel(s.Context())
			require.NoError(s, driver.Write(ctx, s.d, func(inner context.Context, tx *driver.WriteTx) error {
				cancel()
				require.NoError(s, inner.Err())
				return note(inner, tx, "whole")
			}))
			require.Equal(s, []string{"whole"}, s.noted())

			err := driver.Write(ctx, s.d, func(context.Context, *driver.WriteTx) error {
				s.Error("the function was run under a context that is done")
				return nil
			})
			require.ErrorIs(s, err, context.Canceled)
		},
	},
	{
		name:        "Write/freezes the clock",
		explanation: "all that a transaction writes bears the same instant, in UTC and as precise as the database stores it",
		run: func(s *suite) {
			s.write(func(_ context.Context, tx *driver.WriteTx) error {
				before := tx.Now()
				require.Equal(s, before, tx.Now())
				require.Equal(s, tx.Now().UTC().Truncate(1000), tx.Now())
				require.Equal(s, s.d.Dialect(), tx.Dialect())
				return nil
			})
		},
	},
	{
		name:        "Notify/wakes listeners when the transaction commits",
		explanation: "Listen wakes once when it listens and after each notification; without, new jobs wait for the next poll",
		run: func(s *suite) {
			ctx, cancel := context.WithCancel(s.Context())
			woken := make(chan struct{}, 100)
			var wg sync.WaitGroup
			wg.Go(func() {
				if err := s.d.Listen(ctx, func() { woken <- struct{}{} }); err != nil {
					s.Errorf("Listen: %v", err)
				}
			})
			<-woken // it listens
			s.write(s.d.Notify)
			<-woken
			cancel()
			wg.Wait()
		},
	},
}
