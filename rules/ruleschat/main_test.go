package ruleschat_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

func TestMain(m *testing.M) { dbtest.Main(m, ruleschat.Migrate) }
