package onboarding_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/onboarding"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, onboarding.Migrate) }
