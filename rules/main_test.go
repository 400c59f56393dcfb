package rules_test

import (
	"testing"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulestore"
	"github.com/postroom-go/postroom/safety"
)

func TestMain(m *testing.M) { dbtest.Main(m, queue.Migrate, rulestore.Migrate, safety.Migrate) }
