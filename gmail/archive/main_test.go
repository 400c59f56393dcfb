package archive_test

import (
	"testing"

	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) {
	dbtest.Main(m, queue.Migrate, mailstore.Migrate, archive.Migrate, worldtest.MakeActions)
}
