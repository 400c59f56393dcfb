package postgres

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// The server refuses a statement of 1 GiB, such as one of a thousand jobs with payloads of 1 MiB.
func TestAStatementInsertsNoMoreThanTheServerTakes(t *testing.T) {
	payload := make([]byte, 1<<20)
	jobs := make([]*driver.InsertJob, 1100)
	for i := range jobs {
		jobs[i] = &driver.InsertJob{Job: driver.Job{Payload: payload}}
	}
	require.Equal(t, statementBytes>>20, inStatement(jobs))
	require.Equal(t, 3, inStatement(jobs[:3]))
	large := &driver.InsertJob{Job: driver.Job{Payload: make([]byte, statementBytes)}}
	require.Equal(t, 1, inStatement([]*driver.InsertJob{large, jobs[0]}))
}
