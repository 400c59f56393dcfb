package dbtest

import (
	"flag"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// checksFlag is rapid's, which knows it as the number of random checks of a test.
const checksFlag = "rapid.checks"

// checksGiven reports whether the command line has the flag. It is asked before the first test sets it, which looks the
// same to package flag.
var checksGiven = sync.OnceValue(func() (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checksFlag })
	return given
})

// Checks sets how many random checks a test makes, where each of them runs jobs on a database and a hundred would take
// minutes. The flag -rapid.checks on the command line is kept.
func Checks(t *testing.T, n int) {
	t.Helper()
	if checksGiven() {
		return
	}
	before := flag.Lookup(checksFlag).Value.String()
	require.NoError(t, flag.Set(checksFlag, strconv.Itoa(n)))
	t.Cleanup(func() { require.NoError(t, flag.Set(checksFlag, before)) })
}
