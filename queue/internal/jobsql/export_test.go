package jobsql

import (
	"maps"
	"slices"

	"github.com/postroom-go/postroom/queue/driver"
)

// The tests are in package jobsql_test: they need the engines, which import this package.

func ListNewest(dialect driver.Dialect, f driver.Filter) (query string, args []any) {
	return listNewest(dialect, f)
}

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

// Asked are the statements about jobs that are the same on every engine: of handlers, of heartbeats, and of pages that
// show what there is now. Those of one job and of the running ones have it or them only.
var Asked = map[string]string{
	"selectJob": selectJob, "selectSteps": selectSteps, "selectAttempts": selectAttempts, "selectLogs": selectLogs,
	"selectWorkerJobs": SelectWorkerJobs, "startStep": StartStep, "finishStep": FinishStep, "saveCursor": SaveCursor,
	"ensureWorker": EnsureWorker, "selectHolder": SelectHolder, "selectNextInstant": selectNextInstant,
	"selectDueSchedules": selectDueSchedules, "selectFinishedKinds": selectFinishedKinds, "selectReady": selectReady,
	"selectScheduled": selectScheduled, "selectLimited": selectLimited, "selectMoving": selectMoving,
	"selectRunning": selectRunning, "selectLast": selectLast, "countAhead": countAhead,
	"selectKeyUses": selectKeyUses, "selectLongestRunning": selectLongestRunning, "selectCreated": selectCreated,
	"selectThroughput": selectThroughput + "finished_at",
}
