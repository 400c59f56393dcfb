package safety

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// What counts, lists or describes the records belongs to a type of its own, as Activity and Events do.
func TestTheLedgerHasFewMethods(t *testing.T) {
	n := reflect.TypeFor[*Ledger]().NumMethod()
	t.Log(n)
	require.LessOrEqual(t, n, 60)
}
