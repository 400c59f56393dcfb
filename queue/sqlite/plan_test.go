package sqlite_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/sqlite"
)

var parameter = regexp.MustCompile(`[$?]\d+`)

// What is executed for each job, claim or heartbeat reads no table from end to end, however many jobs there are.
func TestStatementsAboutAJobUseIndexes(t *testing.T) {
	db := openFile(t, nil)
	trapQueue(t, db)
	for name, statement := range sqlite.JobStatements {
		plan := planOf(t, db, parameter.ReplaceAllString(statement, "'1'"))
		require.NotEmpty(t, plan, name)
		for step := range strings.Lines(plan) {
			// As many run as the processes have slots, and of the scheduled ones the first are read.
			if !strings.Contains(step, "INDEX jobs_running") && !strings.Contains(step, "INDEX jobs_scheduled") {
				require.NotRegexp(t, `SCAN (jobs|job_keys|job_steps|job_attempts|job_logs|k)\b`, step, name)
			}
		}
	}
}
