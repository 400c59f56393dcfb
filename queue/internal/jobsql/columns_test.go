package jobsql_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Whoever adds a column to a table and not to the table of columns would lose it in a move, and never read it.
func TestEveryColumnOfTheDatabaseIsKnown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		for _, name := range jobsql.Tables() {
			rows, err := db.Reader().QueryContext(t.Context(), "SELECT * FROM "+string(name)+" LIMIT 0") //nolint:unqueryvet // all that there are
			require.NoError(t, err)
			stored, err := rows.Columns()
			require.NoError(t, err)
			require.NoError(t, rows.Err())
			require.NoError(t, rows.Close())
			known, _ := jobsql.ColumnsOf(name)
			require.ElementsMatch(t, stored, known, name)
		}
	})
}

func TestTablesBeginWithTheirPrimaryKeys(t *testing.T) {
	db := dbtest.Postgres(t)
	require.NoError(t, queue.Migrate(t.Context(), db))
	for _, name := range jobsql.Tables() {
		var key []string
		require.NoError(t, db.Reader().Select(&key, `
SELECT a.attname::text
FROM pg_index AS i
JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
WHERE i.indrelid = $1::regclass
  AND i.indisprimary`, string(name)))
		_, known := jobsql.ColumnsOf(name)
		require.ElementsMatch(t, key, known, name)
	}
}

// What a job is read from is what the table of columns has a field for.
func TestColumnsAreThoseOfTheTable(t *testing.T) {
	all, _ := jobsql.ColumnsOf(driver.TableJobs)
	withField := slices.DeleteFunc(all, func(name string) bool { return jobsql.FieldOf(name, &driver.Job{}) == nil })
	require.ElementsMatch(t, withField, strings.Split(jobsql.Columns, ", "))
}

// leaves calls fn with every field of a struct that is not one of more fields, by its name.
func leaves(of reflect.Value, fn func(name string, field reflect.Value)) {
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			leaves(field, fn)
			continue
		}
		fn(of.Type().Field(i).Name, field)
	}
}

// Every field of a job is one column's, and no two columns have the same; but that of keys, which have a table of their
// own.
func TestEveryFieldHasAColumn(t *testing.T) {
	var job driver.Job
	columns := make(map[uintptr]string)
	for name := range strings.SplitSeq(jobsql.Columns, ", ") {
		at := reflect.ValueOf(jobsql.FieldOf(name, &job)).Pointer()
		require.Empty(t, columns[at], "%s has the same field", name)
		columns[at] = name
	}
	var without []string
	leaves(reflect.ValueOf(&job).Elem(), func(name string, field reflect.Value) {
		if columns[field.Addr().Pointer()] == "" {
			without = append(without, name)
		}
	})
	require.Equal(t, []string{"Period"}, without)
}

// The constants of this package are the holds of the table of standings, as they are stored.
func TestEveryHoldHasAName(t *testing.T) {
	var holds []string
	for _, at := range driver.Standings() {
		if at.State == driver.StateQueued {
			holds = append(holds, strconv.Itoa(int(at.Hold)))
		}
	}
	require.Equal(t, holds, []string{jobsql.None, jobsql.Scheduled, jobsql.Limited, jobsql.Moving, jobsql.Waiting})
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, holds)
}

// A hold that has no name cannot be written down: SQL in Go has none by its number.
func TestNoStatementHasAHoldByItsNumber(t *testing.T) {
	bare := regexp.MustCompile(`hold\s*(=|<>|IN|NOT IN|BETWEEN)\s*\(?[0-9]`)
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		require.Empty(t, bare.FindString(string(source)), "%s: use the constants of this package", path)
		return err
	}))
}
