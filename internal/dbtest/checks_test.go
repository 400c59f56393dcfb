package dbtest_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestEachTestSetsItsNumberOfChecks(t *testing.T) {
	for _, n := range []int{3, 1, 2} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			dbtest.Checks(t, n)
			made := 0
			rapid.Check(t, func(*rapid.T) { made++ })
			require.Equal(t, n, made)
		})
	}
}
