package postgres_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

func TestDriver(t *testing.T) {
	queuetest.TestDriver(t, func(t *testing.T) queue.Driver { return dbtest.Postgres(t) })
}
