package pipeline

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, Migrate) }
