package llm_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
)

func TestMain(m *testing.M) { dbtest.Main(m, llm.Migrate) }
