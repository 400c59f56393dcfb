package replies_test

import (
	"testing"

	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, replies.Migrate) }
