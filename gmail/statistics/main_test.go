package statistics_test

import (
	"testing"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, queue.Migrate, mailstore.Migrate, safety.Migrate, lessons.Migrate, enrich.Migrate, statistics.Migrate)
}
