package jobsql

import (
	"maps"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
)

// The tests are in package jobsql_test: they need the engines, which import this package.

func Tables() []driver.Table { return slices.Collect(maps.Keys(tables)) }

func ColumnsOf(name driver.Table) (columns, key []string) {
	t := tables[name]
	return t.names(), t.names()[:t.keys]
}

// FieldOf returns nil where a column of jobs has no field.
func FieldOf(name string, job *driver.Job) any {
	for _, c := range jobColumns {
		if c.name == name && c.field != nil {
			return c.field(job)
		}
	}
	return nil
}
