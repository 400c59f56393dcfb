package browsertest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/postroom-go/postroom/internal/browsertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(browsertest.Main(m)) }
