package dbquery_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

type person struct {
	Name string `db:"full_name"`
	Age  int    `db:"age"`
}

func TestRowsAreReadWithinTransactionsAndWithout(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		look := func(ctx context.Context, q dbquery.Querier) {
			var all []person
			require.NoError(t, dbquery.Select(ctx, q, &all, "SELECT full_name, age FROM people ORDER BY age"))
			require.Equal(t, []person{{"Ada", 36}, {"Grace", 85}}, all)
			var names []string
			require.NoError(t, dbquery.Select(ctx, q, &names, "SELECT full_name FROM people WHERE age > $1", 40))
			require.Equal(t, []string{"Grace"}, names)
			var one person
			require.NoError(t, dbquery.Get(ctx, q, &one, "SELECT full_name, age FROM people ORDER BY age"))
			require.Equal(t, person{"Ada", 36}, one)
			var age int
			require.NoError(t, dbquery.Get(ctx, q, &age, "SELECT MAX(age) FROM people"))
			require.Equal(t, 85, age)
			require.ErrorIs(t, dbquery.Get(ctx, q, &age, "SELECT age FROM people WHERE age > 100"), sql.ErrNoRows)
		}
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			for _, statement := range []string{
				"CREATE TABLE people (full_name TEXT NOT NULL, age INTEGER NOT NULL)",
				"INSERT INTO people VALUES ('Grace', 85), ('Ada', 36)",
			} {
				if _, err := tx.ExecContext(ctx, statement); err != nil {
					return err
				}
			}
			look(ctx, tx)
			changed, err := dbquery.Exec(ctx, tx, "UPDATE people SET age = age WHERE age > $1", 10)
			require.NoError(t, err)
			require.EqualValues(t, 2, changed)
			return nil
		}))
		_, err := dbquery.Exec(t.Context(), db.Reader(), "UPDATE nothing SET age = 1")
		require.Error(t, err)
		look(t.Context(), db.Reader())
		require.Error(t, dbquery.Select(t.Context(), db.Reader(), &[]person{}, "SELECT nothing"))
		require.EqualError(t, dbquery.Get(t.Context(), db.Reader(), person{}, "SELECT 1"), "dbquery: Get needs a pointer")
	})
}

func TestTextsThatPostgreSQLRefusesAreCleaned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		args := []any{"a\x00b\xff", 7, "plain"}
		var found []string
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &found,
			"SELECT CAST($1 AS TEXT) WHERE CAST($2 AS INTEGER) = 7 AND CAST($3 AS TEXT) = 'plain'", args...))
		require.Equal(t, []string{"a\uFFFDb\uFFFD"}, found)
		require.Equal(t, []any{"a\x00b\xff", 7, "plain"}, args, "the caller's stay")
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := dbquery.Exec(ctx, tx, "CREATE TABLE texts (text TEXT NOT NULL)"); err != nil {
				return err
			}
			if _, err := dbquery.Exec(ctx, tx, "INSERT INTO texts VALUES ($1)", args[0]); err != nil {
				return err
			}
			var text string
			require.NoError(t, dbquery.Get(ctx, tx, &text, "SELECT text FROM texts WHERE text = $1", args[0]))
			require.Equal(t, "a\uFFFDb\uFFFD", text)
			return nil
		}))
	})
}

type stay struct {
	person

	Left sql.NullString `db:"left"`
	note string
}

func TestRowsFillNothingButTheirColumns(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		get := func(dest any, query string) error { return dbquery.Get(t.Context(), db.Reader(), dest, query) }
		one := stay{person: person{"Grace", 85}, Left: sql.NullString{String: "1992", Valid: true}, note: "old"}
		require.NoError(t, get(&one, "SELECT 'Ada' AS full_name"))
		require.Equal(t, stay{person: person{Name: "Ada"}}, one, "what was there before is gone")
		require.NoError(t, get(&one, "SELECT 36 AS age, 'Ada' AS full_name, '1852' AS \"left\""),
			"the same type by other columns")
		require.Equal(t, stay{person: person{"Ada", 36}, Left: sql.NullString{String: "1852", Valid: true}}, one)

		all := []stay{{Left: sql.NullString{String: "1992", Valid: true}}, {}}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &all, "SELECT 'Ada' AS full_name"))
		require.Equal(t, []stay{{person: person{Name: "Ada"}}}, all, "elements that were there before are gone")

		none := []stay(nil)
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &none, "SELECT 'Ada' AS full_name WHERE 1 = 0"))
		require.Nil(t, none)
	})
}

func TestColumnsThatFitNowhereAreErrors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		var (
			one  person
			age  int
			many []person
		)
		for query, dest := range map[string]any{"SELECT 36 AS age, 7 AS shoe": &one, "SELECT 1 AS a, 2 AS b": &age,
			"SELECT NULL AS age": &one} {
			require.Error(t, dbquery.Get(t.Context(), db.Reader(), dest, query), query)
		}
		require.EqualError(t, dbquery.Get(t.Context(), db.Reader(), &one, "SELECT 7 AS shoe"),
			"dbquery: dbquery_test.person has no field for the column shoe")
		require.EqualError(t, dbquery.Get(t.Context(), db.Reader(), &age, "SELECT 1 AS a, 2 AS b"),
			"dbquery: 2 columns for a int, which is one")
		require.EqualError(t, dbquery.Select(t.Context(), db.Reader(), many, "SELECT 1"),
			"dbquery: Select needs a pointer to a slice")
		require.NoError(t, db.Reader().PingContext(t.Context()), "no connection is left with open rows")
	})
}

func TestAStatementThatWritesIsReadToItsEnd(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			if _, err := tx.ExecContext(ctx, "CREATE TABLE people (full_name TEXT NOT NULL, age INTEGER NOT NULL)"); err != nil {
				return err
			}
			var name string
			require.NoError(t, dbquery.Get(ctx, tx, &name,
				"INSERT INTO people VALUES ('Ada', 36), ('Grace', 85) RETURNING full_name"))
			require.Equal(t, "Ada", name)
			return nil
		}))
		var n int
		require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &n, "SELECT COUNT(*) FROM people"))
		require.Equal(t, 2, n)
	})
}

// Several goroutines find the layouts of one type at once.
func TestLayoutsAreSharedByGoroutines(t *testing.T) {
	db := dbtest.SQLite(t)
	var all sync.WaitGroup
	for _, query := range []string{"SELECT 36 AS age, 'Ada' AS full_name", "SELECT 'Ada' AS full_name, 36 AS age"} {
		for range 8 {
			all.Go(func() {
				var one person
				if err := dbquery.Get(context.Background(), db.Reader(), &one, query); err != nil || one != (person{"Ada", 36}) {
					t.Errorf("%v, %v", one, err)
				}
			})
		}
	}
	all.Wait()
}

func BenchmarkGet(b *testing.B) {
	db := dbtest.SQLite(b)
	b.ReportAllocs()
	for b.Loop() {
		var one person
		if err := dbquery.Get(b.Context(), db.Reader(), &one, "SELECT 36 AS age, 'Ada' AS full_name"); err != nil {
			b.Fatal(err)
		}
	}
}
