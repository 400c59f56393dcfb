package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/postgres"
)

// A plan that is made while the tables are empty, and kept, must not read all of a table that is not.
func TestPlansOfEmptyTablesUseIndexes(t *testing.T) {
	db := openQueue(t)
	var tables string // not those of other tests, which would be planned for as if they stayed empty
	require.NoError(t, db.Reader().Get(&tables,
		"SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables WHERE schemaname = current_schema()"))
	_, err := db.Reader().ExecContext(t.Context(), "VACUUM ANALYZE "+tables)
	require.NoError(t, err)
	for name, statement := range postgres.Planned {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, driver.Write(t.Context(), db, func(ctx context.Context, tx *driver.WriteTx) error {
				var arguments []string
				for i := 1; strings.Contains(statement, fmt.Sprint("$", i)); i++ {
					arguments = append(arguments, "NULL")
				}
				for _, text := range []string{postgres.PlanOurs, "PREPARE planned AS " + statement} {
					_, err := tx.ExecContext(ctx, text)
					require.NoError(t, err)
				}
				execute := "EXPLAIN EXECUTE planned"
				if len(arguments) > 0 {
					execute += " (" + strings.Join(arguments, ", ") + ")"
				}
				rows, err := tx.QueryContext(ctx, execute)
				require.NoError(t, err)
				defer rows.Close()
				for rows.Next() {
					var line string
					require.NoError(t, rows.Scan(&line))
					require.NotContains(t, line, "Seq Scan on job")
					require.NotContains(t, line, "Bitmap")
					// Of a limit, or a rate, among many.
					require.NotContains(t, line, "Filter: (name = ")
				}
				require.NoError(t, rows.Err())
				_, err = tx.ExecContext(ctx, "DEALLOCATE planned")
				return err
			}))
		})
	}
}

// A claim of many types locks each job as soon as it sees that nobody holds it: what is sorted between the two may have
// been claimed by then.
func TestClaimsOfManyTypesLockWhatTheyHaveJustSeen(t *testing.T) {
	db := openQueue(t)
	plan := explained(t, db, postgres.Planned["claimOfTypes"], "'w', now(), ARRAY['a', 'b'], ARRAY[9, 9], 9, 2, 0")
	require.Regexp(t, `LockRows .*\n *->  Nested Loop .*\n *->  Subquery Scan on chosen`, plan)
	require.Regexp(t, `Tid Scan on jobs found .*\n *TID Cond: \(ctid = chosen.place\)`, plan)
}

// A job is hastened by its id: the index of scheduled jobs, which looks small while there are few, may have millions.
func TestAJobIsHastenedByItsID(t *testing.T) {
	db := openQueue(t)
	plan := explained(t, db, postgres.Planned["hastenJob"], "now(), 'id'")
	require.Contains(t, plan, "jobs_pkey")
}
