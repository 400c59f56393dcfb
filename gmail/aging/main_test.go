package aging

import (
	"testing"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, mailstore.Migrate, rulestore.Migrate) }
