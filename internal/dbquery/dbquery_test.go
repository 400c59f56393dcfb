package dbquery_test

import (
	"context"
	"database/sql"
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
				"CREATE TABLE people (full_name TEXT NOT NULL, age INTEGER NOT NULL)", "INSERT INTO people VALUES ('Grace', 85), ('Ada', 36)",
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
