package jobsql_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

func TestTheNumberBeforeTheLastAttempt(t *testing.T) {
	require.Equal(t, strconv.Itoa(driver.LastAttempt-1), jobsql.BeforeLast)
}
