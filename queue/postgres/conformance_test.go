package postgres_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver/drivertest"
)

func TestDriver(t *testing.T) {
	drivertest.Run(t, func(t *testing.T) queue.DB { return dbtest.Postgres(t) })
}
