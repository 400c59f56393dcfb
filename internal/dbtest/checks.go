package dbtest

import (
	"flag"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks sets how many random checks a test makes, where each of them runs jobs on a database and a hundred would take
// minutes. The flag -rapid.checks on the command line is kept.
func Checks(t *testing.T, n int) {
	t.Helper()
	const name = "rapid.checks"
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return
	}
	before := flag.Lookup(name).Value.String()
	require.NoError(t, flag.Set(name, strconv.Itoa(n)))
	t.Cleanup(func() { require.NoError(t, flag.Set(name, before)) })
}
