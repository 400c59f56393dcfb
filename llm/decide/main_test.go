package decide_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/queue"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, llm.Migrate, decide.Migrate) }
