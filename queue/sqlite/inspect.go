package sqlite

import (
	"context"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// Stats implements [driver.Inspector].
func (db *engine) Stats(ctx context.Context, query driver.StatsQuery) (*driver.Stats, error) {
	workers, err := db.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return jobsql.ReadStats(ctx, db.names.Reader(db.reader), driver.SQLite, query, workers)
}

const selectTables = `
SELECT tables.name, columns.name
FROM sqlite_schema AS tables
JOIN pragma_table_info(tables.name) AS columns
WHERE tables.type = 'table'
  AND tables.name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY tables.name, columns.cid`

var _ driver.TableLister = (*engine)(nil)

// Tables implements [driver.TableLister].
func (db *engine) Tables(ctx context.Context) (map[string][]string, error) {
	type column struct{ table, name string }
	rows, err := db.query(ctx, selectTables)
	columns, err := jobsql.Collect(rows, err, func(row jobsql.Scanner) (c column, err error) {
		err = row.Scan(&c.table, &c.name)
		return c, err
	})
	tables := make(map[string][]string)
	for _, c := range columns {
		tables[c.table] = append(tables[c.table], c.name)
	}
	return tables, err
}
