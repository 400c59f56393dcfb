package outbox

import (
	"testing"

	"github.com/postroom-go/postroom/gmail/internal/worldtest"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, mailstore.Migrate, worldtest.MakeActions) }
